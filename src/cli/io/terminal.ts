import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../platform/runtime/clock.ts';

/** A stream that may be a terminal. */
export interface TerminalStream extends Writable {
  isTTY?: boolean;
  /** Characters per line; undefined if it is not a terminal. */
  columns?: number;
}

/** The input and output of a command. Results are written to `stdout`, everything else to `stderr`. */
export interface Terminal {
  env: Record<string, string | undefined>;
  now: Clock;
  /** Opens its input; called only by commands that read it. */
  stdin?: () => Readable;
  stdout: TerminalStream;
  stderr: TerminalStream;
  /** Aborted with an `Interrupted` when the process is asked to end. */
  interrupted: AbortSignal;
  /**
   * Ends the process with exit code 0 after this many ms, even if something keeps it running; no effect if it has
   * ended.
   */
  endWithin?: (ms: number) => void;
  /** Sets what SIGHUP does instead of ending the process; it still ends with its terminal. */
  onReload?: (reload: () => void) => void;
}

/** Thrown when the process was asked to end before the command finished. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  override readonly message = 'interrupted';
  /** The signal, `EPIPE` if the reader of stdout closed it, or the end of the launcher. */
  readonly by: string;

  constructor(by: string) {
    super();
    this.by = by;
  }
}

/** Resolves when the process is asked to end. */
export function untilInterrupted({ interrupted }: Pick<Terminal, 'interrupted'>): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    interrupted.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Settles like `work`, unless the process is asked to end first: then it rejects immediately, and `work` is abandoned.
 */
export async function unlessInterrupted<T>({ interrupted }: Terminal, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  const stop = Promise.withResolvers<never>();
  const onAbort = () => stop.reject(interrupted.reason);
  if (interrupted.aborted) onAbort();
  interrupted.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, stop.promise]);
  } finally {
    interrupted.removeEventListener('abort', onAbort);
  }
}
