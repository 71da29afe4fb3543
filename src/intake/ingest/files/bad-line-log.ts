import { SessionSealed } from '../../../store/market/session-seals.ts';
import { MixedStore } from '../../../store/origin.ts';
import { type BadLine, TapeFileError } from '../../tape/csv/tape-file.ts';

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

/** Errors that reject files, whose message is the reason. */
const rejections = [TapeFileError, SessionSealed, MixedStore];

/** The reason for which files are rejected; `log`: their bad lines. Throws any error that is not about them. */
export function rejectionReason(error: unknown, log: Pick<BadLineLog, 'reason'> | null): string {
  if (error instanceof FileRefused) return log!.reason();
  if (rejections.some((kind) => error instanceof kind)) return (error as Error).message;
  throw error;
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

/** Counts lines of a file in whose place others of it are stored. */
export class DisplacedLines {
  readonly #what: string;
  #repeated = 0;
  #displaced = 0;

  /** `what`: what the lines have, and one of them keeps. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Counts a line. `isEqual`: the other says the same. */
  add(isEqual: boolean): void {
    if (isEqual) this.#repeated++;
    else this.#displaced++;
  }

  /** Notes for the report of the file. */
  notes(): string[] {
    const [repeated, displaced] = [this.#repeated, this.#displaced];
    return [
      ...(repeated > 0 ? [`${repeated} lines repeat others of the file and count once`] : []),
      ...(displaced > 0 ? [`${displaced} lines are displaced by others of the file ${this.#what}`] : []),
    ];
  }
}
