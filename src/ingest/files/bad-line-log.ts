import type { BadLine } from '../../tape/csv/tape-file.ts';

// Maximum number of listed bad lines; reading of a rejected file stops there.
export const reportedBadLines = 100;

/** Thrown to end the reading of a rejected file. It has no message: the report contains the reason. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}

/** The bad lines of a unit that is stored whole or not at all. */
export interface BadLineLog {
  /** The first hundred. */
  badLines: BadLine[];
  count(): number;
  /** True if there are more than are allowed. */
  refused(): boolean;
  /** Adds a bad line. Throws `FileRefused` if there are too many and further ones would not be reported. */
  add(bad: BadLine): void;
  /** Reason for the rejection. */
  reason(): string;
}

/** Creates an empty log. */
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
