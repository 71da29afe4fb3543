import { readFileSync } from 'node:fs';

/** A captured answer of a server, as written by `scripts/capture-examples.ts`. */
export interface Captured {
  method: string;
  /** Path and query. */
  address: string;
  body: string | null;
  /** The credential of the request. */
  credential: 'key' | 'session' | 'none';
  status: number;
  /** The informative headers of the answer. */
  headers: Readonly<Record<string, string>>;
  /** The body; longer lists are cut to their first items. */
  answer: unknown;
  /** Number of omitted items of a list, by the list's path, e.g. `data.strikes`. */
  omitted: Readonly<Record<string, number>>;
}

/** The file that the script writes. */
export interface CapturedExamples {
  /** Time of the answering server's clock. */
  clock: string;
  /** By operation. */
  routes: Readonly<Record<string, Captured>>;
  /** Failures, by status. */
  failures: Readonly<Record<string, Captured>>;
  /** The first events of a stream, one of each name. */
  stream: { address: string; events: readonly CapturedEvent[] };
}

/** An event of a stream; lists in its data are cut like those of answers. */
export interface CapturedEvent {
  event: string;
  id: string;
  data: unknown;
  omitted: Readonly<Record<string, number>>;
}

/** The captured answers of the sample market for the reference. */
export const capturedExamples: CapturedExamples = JSON.parse(
  readFileSync(new URL('../../../generated/pages/examples.json', import.meta.url), 'utf8'),
);
