import type { FineUnit } from '../../domain/instant-gate.ts';

/** Spellings of symbols, as the reason for a bad one says what was expected. */
export const spellings = {
  /** A ticker of the registry: `SPY`, `BRK.B`, in any spelling of the suffix. */
  ticker: 'a ticker such as SPY or BRK.B',
  /** As `ticker`; a small letter marks the share class (`BACpL`). */
  tapeTicker: 'a ticker such as SPY or BRK.B',
  /** `O:` and the OSI symbol. */
  prefixedOsi: 'O: and an OSI symbol',
  /** The OSI symbol, in either case, perhaps with `O:`. */
  osi: 'a contract',
} as const;

/** Where a format says a time, and in what form. */
export interface FormatTime {
  column: string;
  /** Since 1970 in UTC; `written`: as a page shows it; `stamp`: `YYYY-MM-DD HH:MM:SS`, UTC or of the exchange. */
  unit: FineUnit | 'written' | 'stamp';
}

/** Facts of a vendor's format: what recognizes its files, and what they mean. One file of this folder each. */
export interface Format {
  name: string;
  /** Content of its files, for people. */
  content: string;
  /** Names by which a file is recognized: of its header's columns, or of a JSON object's keys. */
  required: readonly string[];
  /** Null: its times, if any, are dates. */
  time: FormatTime | null;
  /** Age of what it says at its own times, ms. */
  delayMs: number;
  /** Null: its lines are of no symbol. */
  symbols: { column: string; spelling: keyof typeof spellings } | null;
}

/** A format whose header is the first line of its files; other columns than these are skipped. */
export interface HeaderFormat<Name extends string = string> extends Format {
  required: readonly Name[];
  optional: readonly Name[];
}

/** The columns of a format. */
export type ColumnOf<F extends HeaderFormat> = F['required'][number] | F['optional'][number];

/** Which names a format requires and `names` lacks. */
export function lacking<Name extends string>({ required }: { required: readonly Name[] }, names: readonly string[]) {
  return required.filter((name) => !names.includes(name));
}
