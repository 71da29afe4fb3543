/** What a process needs to be asked about its health. */
export interface Vitals {
  /** Resolves when the database answers, rejects when it does not; may hang. */
  database: () => Promise<unknown>;
  /** False while a Redis that is configured is out of reach. */
  redis: () => boolean;
  /** True from the moment the process was asked to end. */
  draining: () => boolean;
}

/** `/healthz`: the process runs; degraded = the database or Redis is away, and with it part of what it can do. */
export type HealthStatus = 'ok' | 'degraded';
/** `/readyz`: whether requests should be sent here. */
export type Readiness = 'ready' | 'not_ready' | 'draining';

/** Answers for balancers and orchestrators. Both come within a bounded time, whatever hangs. */
export interface Health {
  status(): Promise<HealthStatus>;
  readiness(): Promise<Readiness>;
}

/** How long the database may take to answer, ms: a liveness probe waits for a second, and one that fails is a restart that helps nobody. */
const patienceMs = { status: 500, readiness: 2000 } as const;

/** `work` as a yes or no, no later than after `ms`: late is no. */
function within(work: Promise<boolean>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Watches over a process by its `vitals`. */
export function watchHealth({ database, redis, draining }: Vitals): Health {
  // One question at a time: those who ask while it is open share its answer, so that none pile up before a database that hangs.
  let asking: Promise<boolean> | null = null;
  function databaseAnswers(ms: number): Promise<boolean> {
    asking ??= database()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asking = null;
      });
    return within(asking, ms);
  }
  return {
    async status() {
      return redis() && (await databaseAnswers(patienceMs.status)) ? 'ok' : 'degraded';
    },
    async readiness() {
      if (draining()) return 'draining';
      return (await databaseAnswers(patienceMs.readiness)) ? 'ready' : 'not_ready';
    },
  };
}
