import { type TradeSpan, tradeSpanAt } from '../../../core/domain/calendar.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import type { StockPrint } from '../../../core/domain/market/print.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { joinedHours, type TapeHours, tapeHoursCounter } from '../../../core/domain/tape-hours.ts';
import type { OnBadLine } from '../../tape/csv/tape-file.ts';
import type { UnservedTickers } from '../../tape/csv/unserved-tickers.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { readStockTrades } from '../../tape/prints/stock-trades.ts';
import type { TapeFile } from '../files/file-job.ts';
import { FileSpans } from '../files/file-spans.ts';
import type { KeptPrints } from '../files/packed-prints.ts';
import { mixed } from '../files/print-sketch.ts';
import type { PartHours } from '../files/tape-guard.ts';
import { recordAt as at, createTapeRecords, type TapeRecords, recordWidth as width } from './stock-records.ts';

/** Takes a print of a file. */
type TakePrint = (print: StockPrint, file: number) => void;

/** A stock tape read from its files, which feeds the sessions of symbols one after the other. */
export interface StockTapeFiles {
  /** Each file's part of its sessions, by path. */
  readonly filesHours: ReadonlyMap<string, ReadonlyMap<SessionDate, TapeHours>>;
  /** Number of waiting prints. */
  readonly joined: number;
  /** The symbols' sessions of the files. */
  readonly parts: readonly PartHours[];
  /**
   * Feeds the prints of a symbol's session, in order of time and then of their files, to the function that `begin`
   * returns for it, then calls `end`; then those of the next. The print is one reused object; a file that continues
   * another has its number. Call it once.
   */
  feed(begin: (symbol: string, session: SessionDate) => TakePrint, end: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface StockTapeReading {
  files: readonly TapeFile[];
  /** Waiting prints for the symbols' sessions of the files. */
  waiting(parts: readonly PartHours[]): Promise<WaitingPrints[]>;
  bounds: InstantBounds;
  /** Counts the lines of unserved tickers. */
  unserved: UnservedTickers;
  onBadLine: OnBadLine;
  /** True once collecting has stopped: reading continues only for bad lines. */
  refused(): boolean;
}

/** Waiting prints of a symbol. */
export interface WaitingPrints {
  symbol: string;
  kept: KeptPrints;
}

/** A hash of what a print is without its id. */
function contentHash({ exchange, trf, price, size, sizeMicros, conditions, correction }: StockPrint): number {
  let hash = mixed(mixed(mixed(0, exchange), trf), price >>> 0);
  hash = mixed(mixed(mixed(hash, size >>> 0), sizeMicros), correction);
  for (const condition of conditions) hash = mixed(hash, condition);
  return hash;
}

/** Records which files have prints of a symbol's session. */
class PartFiles {
  readonly #areSeveral: boolean;
  /** By session, then symbol. */
  readonly #sessions = new Map<SessionDate, Map<string, FileSpans>>();
  #span: TradeSpan = { date: '', fromMs: 0, toMs: -Infinity };
  #ofSession = new Map<string, FileSpans>();
  #symbol = '';
  #last = new FileSpans();

  constructor(files: number) {
    this.#areSeveral = files > 1;
  }

  add(file: number, print: StockPrint): void {
    const { symbol, tsMs } = print;
    if (tsMs < this.#span.fromMs || tsMs >= this.#span.toMs) {
      this.#span = tradeSpanAt(tsMs);
      this.#ofSession = this.#sessions.get(this.#span.date) ?? new Map();
      this.#sessions.set(this.#span.date, this.#ofSession);
      this.#symbol = '';
    }
    if (symbol !== this.#symbol) {
      this.#symbol = symbol;
      this.#last = this.#ofSession.get(symbol) ?? new FileSpans();
      this.#ofSession.set(symbol, this.#last);
    }
    this.#last.add(file, tsMs, print.tsNanos, this.#areSeveral ? () => contentHash(print) : null);
  }

  of(symbol: string, session: SessionDate): FileSpans | undefined {
    return this.#sessions.get(session)?.get(symbol);
  }

  /** The symbols' sessions, with the hours of the files that have prints of them. */
  hours(files: readonly ReadonlyMap<SessionDate, TapeHours>[]): PartHours[] {
    return [...this.#sessions].flatMap(([session, symbols]) =>
      Array.from(symbols, ([symbol, spans]) => {
        const sessions = spans.files.map((file) => files[file]!);
        return { symbol, session, hours: joinedHours(sessions).get(session)! };
      }),
    );
  }
}

/** Adds the prints of the files to the sorter. Returns the contents of each file, and of the symbols' sessions. */
async function readFiles({ files, refused, ...reading }: StockTapeReading, records: TapeRecords) {
  const filesHours = new Map<string, ReadonlyMap<SessionDate, TapeHours>>();
  const parts = new PartFiles(files.length);
  for (const [file, { path, onBytes }] of files.entries()) {
    const [days, hours] = [closedDayCounter(), tapeHoursCounter()];
    filesHours.set(path, hours.sessions);
    for await (const prints of readStockTrades(path, { ...reading, onBytes })) {
      if (refused()) continue;
      for (const print of prints) {
        days.add(print.tsMs);
        hours.add(print.tsMs);
        parts.add(file, print);
        const full = records.push(print, file);
        if (full) await full;
      }
    }
    if (!refused()) days.check(path);
  }
  return { filesHours, parts };
}

/** Calls `begin` and `end` for each symbol's session of sorted records, and its function for each print. */
async function feedSorted(
  { sorter, symbols, filled }: TapeRecords,
  parts: PartFiles,
  onBatch: () => void,
  ...[begin, end]: Parameters<StockTapeFiles['feed']>
): Promise<void> {
  let symbol = -1;
  let sessionEndMs = -Infinity;
  let take: TakePrint | null = null;
  let continued: ReadonlyMap<number, number> = new Map();
  for await (const batch of sorter.sorted()) {
    onBatch();
    for (let i = 0; i < batch.length; i += width) {
      if (batch[i + at.symbol] !== symbol || batch[i + at.tsMs]! >= sessionEndMs) {
        if (take) await end();
        symbol = batch[i + at.symbol]!;
        const { date, toMs } = tradeSpanAt(batch[i + at.tsMs]!);
        sessionEndMs = toMs;
        const name = symbols[symbol]!;
        continued = parts.of(name, date)?.continued() ?? new Map();
        take = begin(name, date);
      }
      const file = batch[i + at.file]!;
      take!(filled(batch, i), continued.size === 0 ? file : (continued.get(file) ?? file));
    }
  }
  if (take) await end();
}

/**
 * Reads stock tapes as one, with their lines in any order. Memory is that of a sorter. Throws `TapeFileError`. Always
 * close it, also after an error.
 */
export async function readStockTape(reading: StockTapeReading): Promise<StockTapeFiles> {
  const records = createTapeRecords();
  try {
    const { filesHours, parts: partFiles } = await readFiles(reading, records);
    const parts = partFiles.hours([...filesHours.values()]);
    const waiting = reading.refused() ? [] : await reading.waiting(parts);
    let joined = 0;
    for (const [i, { symbol, kept }] of waiting.entries())
      joined += await records.join(symbol, kept, reading.files.length + i);
    return {
      ...{ filesHours, joined, parts },
      feed: (begin, end) => feedSorted(records, partFiles, () => reading.files.at(-1)!.onBytes(0), begin, end),
      close: () => records.sorter.close(),
    };
  } catch (error) {
    await records.sorter.close();
    throw error;
  }
}
