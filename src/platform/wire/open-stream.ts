import type { Failure } from './failure.ts';

/** Reason for which the server ended a stream. */
export type EndReason = 'shutdown' | 'too_slow' | 'not_entitled' | 'failed';

/** The end of a stream: the reason, and the failure that the client sees. */
export interface StreamEnd {
  reason: EndReason;
  failure: Failure;
}

/** An open stream of any content and endpoint, for heartbeats, rechecks and shutdown. */
export interface OpenStream {
  /** Sends a heartbeat. */
  beat(): void;
  /** Identifies the caller again and ends the stream if they may no longer read it. */
  recheck(): Promise<void>;
  end(end: StreamEnd): void;
}
