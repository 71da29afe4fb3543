import type { SessionDate } from '../../../core/domain/market-time.ts';

/** Units of a report. */
export type PartUnit = 'prints' | 'bars' | 'quotes';

/** A file's change of a session. */
export interface SessionChange {
  session: SessionDate;
  unit: PartUnit;
  /** Number of symbols whose data of the session the file replaced or created. */
  symbols: number;
  /**
   * Number of prints, bars or quotes stored of these before; for prints null = data without a tape file, such as live
   * data or bars.
   */
  before: number | null;
  /** Number stored of them now. */
  after: number;
}

/** Reason for which a part of a session was not stored. */
export type LeftReason = 'fewer' | 'sealed' | 'waiting';

/** Prints, bars or quotes of a session that are in a file and not in the stored session. */
export interface LeftPart {
  session: SessionDate;
  unit: PartUnit;
  /**
   * `fewer`: the session would lose some; `sealed`: it is final; `waiting`: they are stored until the session's own
   * tape is stored.
   */
  reason: LeftReason;
  /** Their number, and that of their symbols. */
  count: number;
  symbols: number;
  /** Number stored of the same contracts, or symbols; for prints null = data without a tape file. */
  stored: number | null;
  /** Minimum number of stored ones that the file lacks. */
  missing: number;
  /** Source files of the stored ones. */
  storedFrom: string[];
  /** The command that stores them; null = no command is required. */
  command: string | null;
}

const filesMost = 3;
const counted = (count: number, unit: PartUnit) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? unit.slice(0, -1) : unit}`;

/** A shortened list of names. */
export function listed(names: readonly string[]): string {
  const more = names.length - filesMost;
  return names.slice(0, filesMost).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The report line on a change. */
export function changeLine({ session, unit, symbols, before, after }: SessionChange): string {
  const from = before === null ? 'other data' : before.toLocaleString('en-US');
  return `${session}: ${from} → ${counted(after, unit)} of ${symbols} ${symbols === 1 ? 'symbol' : 'symbols'}`;
}

/** The report line on a part that was not stored. */
export function leftLine({ session, unit, reason, count, stored, missing, storedFrom, command }: LeftPart): string {
  const here = `${session}: ${counted(count, unit)} ${count === 1 ? 'is' : 'are'} here`;
  if (reason === 'waiting') return `${here}; kept until the tape of the session is stored`;
  const from = storedFrom.length > 0 ? ` from ${listed(storedFrom)}` : '';
  const size = stored === null ? ', but not by a tape file' : ` with ${stored.toLocaleString('en-US')}`;
  const lacks = stored !== null && count >= stored ? `, of which ${missing.toLocaleString('en-US')} are not here` : '';
  const known = reason === 'sealed' && stored === 0 ? 'the session is sealed' : `stored${from}${size}${lacks}`;
  return `${here}; ${known}. Not changed: ${command ?? 'the session is sealed'}`;
}

/** Stored captures of a symbol whose inputs have changed. */
export interface OutdatedCaptures {
  symbol: string;
  captures: number;
  /** Number of them in sealed sessions. */
  sealed: number;
  /** Their first and last session. */
  from: SessionDate;
  to: SessionDate;
  /** The command that recomputes them. */
  command: string;
}

/** The report line on captures with changed inputs. */
export function outdatedLine({ symbol, captures, sealed, from, to, command }: OutdatedCaptures): string {
  const [count, were] =
    captures === 1 ? ['1 capture', 'was'] : [`${captures.toLocaleString('en-US')} captures`, 'were'];
  const of = from === to ? from : `${from} to ${to}`;
  const stay = sealed === 0 ? '' : `, ${sealed.toLocaleString('en-US')} of them in sealed sessions, which stay,`;
  return `${symbol}: ${count} of ${of}${stay} ${were} computed with other inputs: ${command}`;
}
