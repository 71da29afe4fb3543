import type { BadLine } from '../../tape/csv/tape-file.ts';

// As many bad lines as a report lists; a file with more is not read to its end.
export const reportedBadLines = 100;

/** Ends the reading of a rejected file. It has no message: the report says why. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}

/** The bad lines of what is stored whole or not at all. */
export interface BadLineLog {
  /** The first hundred. */
  badLines: BadLine[];
  count(): number;
  /** True if there are more than are allowed. */
  refused(): boolean;
  /** Takes a bad line. Throws `FileRefused` when there are too many and reading on would report no more of them. */
  add(bad: BadLine): void;
  /** Reason for the rejection. */
  reason(): string;
}

/** No bad lines yet. */
export function badLineLog(maxErrors: number): BadLineLog {
  const badLines: BadLine[] = [];
  let count = 0;
  return {
    badLines,
    count: () => count,
    refused: () => count > maxErrors,
    add(bad) {
      count++;
      if (badLines.length < reportedBadLines) badLines.push(bad);
      if (count > maxErrors && count >= reportedBadLines) throw new FileRefused();
    },
    reason: () => `${count >= reportedBadLines ? 'at least ' : ''}${count} bad lines, at most ${maxErrors} allowed`,
  };
}
