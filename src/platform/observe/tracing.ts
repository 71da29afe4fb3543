import type { IncomingMessage } from 'node:http';
import type { RequestObserver } from './requests.ts';

/** Attributes of a span besides its name and times. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** Runs `work` in a span below the current one. */
export type SpanOf = <T>(name: string, details: SpanAttributes, work: () => T) => T;

/**
 * Traces of requests: a span each, and within it spans of its operation, the operation's fields, and statements of the
 * database.
 */
export interface Traces {
  requests: RequestObserver;
  /** Runs `work`, and everything it starts, as part of the request. */
  within(request: IncomingMessage, work: () => void): void;
  span: SpanOf;
  /**
   * Starts a span of a database statement, whose text contains no values. Call the returned function with whether it
   * failed.
   */
  statement(text: string): (failed: boolean) => void;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/** Used if nothing is traced. */
export const untraced: SpanOf = (_name, _facts, work) => work();
