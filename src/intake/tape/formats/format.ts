import type { Dataset } from '../../../core/domain/dataset.ts';
import type { TimeUnit } from '../../../core/domain/instant-gate.ts';

/** Descriptions of symbol spellings, for the reason of a bad line. */
export const spellings = {
  /** A ticker of the registry: `SPY`, `BRK.B`, in any spelling of the suffix. */
  ticker: 'a ticker such as SPY or BRK.B',
  /** Like `ticker`; a small letter marks the share class (`BACpL`). */
  tapeTicker: 'a ticker such as SPY or BRK.B',
  /** `I:` and the ticker of an index, or a known index. */
  index: 'an index such as I:SPX',
  /** `O:` and the OSI symbol. */
  prefixedOsi: 'O: and an OSI symbol',
  /** A stock, or a contract. */
  tickerOrOsi: 'a ticker such as SPY or BRK.B, or O: and an OSI symbol',
  /** The same, in the name of the file if the file does not contain it. */
  stated: 'a ticker, or O: and an OSI symbol; else the name of the file begins with it',
  /** The OSI symbol, in either case, optionally with `O:`. */
  osi: 'a contract',
} as const;

/** The field of a format's times, and their form. */
export interface FormatTime {
  column: string;
  /** Epoch units are UTC; `written`: as on a page; `stamp`: `YYYY-MM-DD HH:MM:SS`, UTC or the exchange's time. */
  unit: TimeUnit | 'written' | 'stamp';
}

/** Properties of a format: how its files are recognized, and their meaning. */
export interface Format {
  name: string;
  /** Content of its files, for people. */
  content: string;
  /** The datasets that its files are of. */
  datasets: readonly Dataset[];
  /** Names by which a file is recognized: columns of its header, or keys of a JSON object. */
  required: readonly string[];
  /** Null if its only times are dates. */
  time: FormatTime | null;
  /** Delay of its data at its own times, ms. */
  delayMs: number;
  /** Null if its lines have no symbol. */
  symbols: { column: string; spelling: keyof typeof spellings } | null;
}

/** A format whose files begin with a header line; other columns than these are skipped. */
export interface HeaderFormat<Name extends string = string> extends Format {
  required: readonly Name[];
  optional: readonly Name[];
}

/** The columns of a format. */
export type ColumnOf<F extends HeaderFormat> = F['required'][number] | F['optional'][number];

/** The required names of a format that `names`, in lower case, lack. */
export function lacking<Name extends string>({ required }: { required: readonly Name[] }, names: readonly string[]) {
  return required.filter((name) => !names.includes(name.toLowerCase()));
}
