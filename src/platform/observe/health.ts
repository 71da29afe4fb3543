/** Sources of a process's health. */
export interface Vitals {
  /** Resolves when the database answers, rejects if it does not; may hang. */
  database: () => Promise<unknown>;
  /** Determines whether writes work, unless that is known; may hang. Never rejects. */
  tryWriting: () => Promise<void>;
  /** Reasons for which writes fail, for operators; empty while they work. */
  writeFailures: () => readonly string[];
  /** False while a configured Redis is not reachable. */
  redis: () => boolean;
  /** State of a market that is loading; null once it is complete. May reject. */
  loading: () => Promise<MarketLoading | null>;
  /** True once the process was asked to end. */
  draining: () => boolean;
}

/** A market that is loading. */
export interface MarketLoading {
  /** Stored share, whole percent. */
  percent: number;
  /** True if its latest session is completely stored. */
  hasLatest: boolean;
}

/** The part of the market that is still loading, in words, and the stored share, whole percent. */
interface Loading {
  loading?: { what: string; percent: number };
}

/** `/healthz`: the process runs; degraded = some of its functions do not work, with public reasons without causes. */
export type HealthStatus = ({ status: 'ok' } | { status: 'degraded'; reasons: string[] }) & Loading;
/** `/readyz`: whether requests should be sent here. */
export type Readiness = 'ready' | 'not_ready' | 'draining';

/** Answers for load balancers and orchestrators. Both arrive within a bounded time, even if a dependency hangs. */
export interface Health {
  status(): Promise<HealthStatus>;
  readiness(): Promise<Readiness>;
}

/**
 * Longest wait for the database's answer, ms: a liveness probe waits for a second, and a failed one causes a restart
 * that does not help.
 */
const patienceMs = { status: 500, readiness: 2000 } as const;

/** The result of `work`, or false after `ms`. */
function within(work: Promise<boolean>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Watches the health of a process by its `vitals`. */
export function watchHealth({ database, tryWriting, writeFailures, redis, loading, draining }: Vitals): Health {
  // One question at a time: concurrent callers share its answer, so that none pile up before a hanging database.
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
  const marketLoading = () => loading().catch(() => null);
  return {
    async status() {
      const [answers, tried, missing] = await Promise.all([
        databaseAnswers(patienceMs.status),
        within(
          tryWriting().then(() => true),
          patienceMs.status,
        ),
        marketLoading(),
      ]);
      const reasons = [
        ...(redis() ? [] : ['Redis is not reachable: this process counts limits on its own.']),
        ...(answers ? writeFailures() : ['The database does not answer.']),
        ...(answers && !tried ? ['Writing to the database takes too long.'] : []),
      ];
      const what = missing?.hasLatest ? 'history of the sample market' : 'latest session of the sample market';
      const still: Loading = missing === null ? {} : { loading: { what, percent: missing.percent } };
      return reasons.length === 0 ? { status: 'ok', ...still } : { status: 'degraded', reasons, ...still };
    },
    async readiness() {
      if (draining()) return 'draining';
      if (!(await databaseAnswers(patienceMs.readiness))) return 'not_ready';
      return (await marketLoading())?.hasLatest === false ? 'not_ready' : 'ready';
    },
  };
}
