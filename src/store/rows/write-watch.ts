import { sqlStateOf } from './sql-state.ts';

/** Reason for which a database rejects all writes. */
export type WriteProblem = 'read_only' | 'disk_full' | 'permission_denied' | 'io_error' | 'failed';

const problems: Readonly<Record<string, WriteProblem>> = {
  '25006': 'read_only',
  '53100': 'disk_full',
  '42501': 'permission_denied',
  '58030': 'io_error',
};

const deepestCause = 5;

/**
 * The condition behind a failed write; null if it does not affect other writes (a rejected row, a broken connection).
 */
export function writeProblemOf(error: unknown): WriteProblem | null {
  let at = error;
  for (let depth = 0; depth < deepestCause && at !== null && at !== undefined; depth += 1) {
    const problem = problems[sqlStateOf(at) ?? ''];
    if (problem !== undefined) return problem;
    at = (at as { cause?: unknown }).cause;
  }
  return null;
}

/** Size from which a write is large, bytes sent: a disk may have room for a small one alone. */
const largeBytes = 64 * 1024;

/** The writer that stands for transactions of a size, bytes sent. */
export const transactionsOf = (bytes: number) => (bytes < largeBytes ? 'transactions' : 'large transactions');

/** Tracks a process's failing writers, with the reasons. */
export interface WriteWatch {
  /** Records that a writer, by its name, succeeded (`error` null) or failed. */
  wrote(writer: string, error: unknown): void;
  /** The currently failing writers, each with the reason of its last failure. */
  failing(): ReadonlyMap<string, WriteProblem>;
  /** Failures of each writer since the process began. */
  failures(): ReadonlyMap<string, number>;
}

/** Watches over the writers of one process. */
export function watchWrites(): WriteWatch {
  const failing = new Map<string, WriteProblem>();
  const failures = new Map<string, number>();
  return {
    wrote(writer, error) {
      if (error === null) {
        failing.delete(writer);
        return;
      }
      failing.set(writer, writeProblemOf(error) ?? 'failed');
      failures.set(writer, (failures.get(writer) ?? 0) + 1);
    },
    failing: () => failing,
    failures: () => failures,
  };
}
