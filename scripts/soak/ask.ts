import http from 'node:http';

/** An answer; status 0 = the connection was rejected or cut, or no answer arrived in time. */
export interface Answer {
  status: number;
  ms: number;
  text: string;
  endedAtMs: number;
}

/** One request to send. */
export interface Asked {
  kind: string;
  method?: string;
  path: string;
  body?: string;
  contentType?: string;
}

/** Collects what was answered: statuses by kind, latencies, and what was answered while nothing was broken. */
export interface Tally {
  record(kind: string, answer: Answer): void;
  /** From now on answers may suffer from a fault. */
  faultBegins(): void;
  /** The fault is over; answers may suffer from it for `recoveryMs` more. */
  faultEnds(recoveryMs: number): void;
  answers: Map<string, number>;
  latencies: number[];
  total: { sent: number; served: number };
  undisturbed: { sent: number; served: number; ms: number[] };
}

/** A fresh tally. */
export function makeTally(): Tally {
  let disturbedUntilMs = 0;
  const tally: Tally = {
    answers: new Map(),
    latencies: [],
    total: { sent: 0, served: 0 },
    undisturbed: { sent: 0, served: 0, ms: [] },
    faultBegins() {
      disturbedUntilMs = Number.POSITIVE_INFINITY;
    },
    faultEnds(recoveryMs) {
      disturbedUntilMs = performance.now() + recoveryMs;
    },
    record(kind, { status, ms, endedAtMs }) {
      const key = `${kind} ${status || 'cut'}`;
      tally.answers.set(key, (tally.answers.get(key) ?? 0) + 1);
      const isServed = status > 0 && status < 500;
      tally.total.sent += 1;
      if (isServed) tally.total.served += 1;
      if (isServed) tally.latencies.push(ms);
      if (endedAtMs < disturbedUntilMs) return;
      tally.undisturbed.sent += 1;
      if (isServed) tally.undisturbed.served += 1;
      if (isServed) tally.undisturbed.ms.push(ms);
    },
  };
  return tally;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 200 });
const patienceMs = 30_000;

/** Sends one request; never throws. */
export function ask(
  url: string,
  credential: string,
  { method = 'GET', path, body, contentType = 'application/json' }: Asked,
): Promise<Answer> {
  const started = performance.now();
  return new Promise((resolve) => {
    const done = (status: number, text: string) => {
      const endedAtMs = performance.now();
      resolve({ status, text, ms: endedAtMs - started, endedAtMs });
    };
    const headers = {
      authorization: `Bearer ${credential}`,
      ...(body === undefined ? {} : { 'content-type': contentType }),
    };
    const request = http.request(url + path, { method, agent, headers, timeout: patienceMs }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => done(response.complete ? response.statusCode! : 0, Buffer.concat(chunks).toString()));
      response.on('error', () => done(0, ''));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => done(0, ''));
    request.end(body);
  });
}
