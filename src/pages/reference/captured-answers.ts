import { readFileSync } from 'node:fs';

/** An answer that a server gave, as `scripts/capture-examples.ts` wrote it down. */
export interface Captured {
  method: string;
  /** Path and query. */
  address: string;
  body: string | null;
  /** The credential of the request. */
  credential: 'key' | 'session' | 'none';
  status: number;
  /** The headers that say something of the answer. */
  headers: Readonly<Record<string, string>>;
  /** The body; of its longer lists the first items. */
  answer: unknown;
  /** Number of omitted items of a list, by the list's path, e.g. `data.strikes`. */
  omitted: Readonly<Record<string, number>>;
}

/** The file that the script writes. */
export interface CapturedExamples {
  /** Time that the clock of the answering server was set to. */
  clock: string;
  /** By the operation that answers. */
  routes: Readonly<Record<string, Captured>>;
  /** Failures, by status. */
  failures: Readonly<Record<string, Captured>>;
  /** The first events of a stream, one of each name. */
  stream: { address: string; events: readonly CapturedEvent[] };
}

/** An event of a stream; lists in its data are shortened as those of answers are. */
export interface CapturedEvent {
  event: string;
  id: string;
  data: unknown;
  omitted: Readonly<Record<string, number>>;
}

/** The answers of the sample market that the reference shows. */
export const capturedExamples: CapturedExamples = JSON.parse(
  readFileSync(new URL('../../../generated/pages/examples.json', import.meta.url), 'utf8'),
);
