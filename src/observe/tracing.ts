import type { IncomingMessage } from 'node:http';
import type { RequestObserver } from './requests.ts';

/** Where traces go, and how many. */
export interface TraceSettings {
  /** Where a collector takes OTLP over HTTP. */
  url: string;
  headers: Record<string, string>;
  serviceName: string;
  /** Traced share of the requests that belong to no caller's trace, 0 to 1. */
  ratio: number;
}

/** Attributes of a span beside its name and times. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** Does `work` in a span below the current one. */
export type SpanOf = <T>(name: string, details: SpanAttributes, work: () => T) => T;

/**
 * Traces of requests: a span each, and within it spans of its operation, the operation's fields, and statements of the
 * database.
 */
export interface Traces {
  requests: RequestObserver;
  /** Runs `work`, and everything it starts, as a part of the request. */
  within(request: IncomingMessage, work: () => void): void;
  span: SpanOf;
  /** A statement of the database; what it returns is called with whether it failed. Its text holds no values. */
  statement(text: string): (failed: boolean) => void;
  /** Hands over what is left. */
  close(): Promise<void>;
}

/** Where nothing is traced. */
export const untraced: SpanOf = (_name, _facts, work) => work();
