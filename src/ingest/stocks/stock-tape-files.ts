import { tradeSpanAt } from '../../domain/calendar.ts';
import type { InstantBounds } from '../../domain/instant-gate.ts';
import type { StockPrint } from '../../domain/market/print.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { joinedHours, type TapeHours, tapeHoursCounter } from '../../domain/tape-hours.ts';
import type { OnBadLine } from '../../tape/csv/tape-file.ts';
import type { UnservedTickers } from '../../tape/csv/unserved-tickers.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { readStockTrades } from '../../tape/prints/stock-trades.ts';
import type { TapeFile } from '../files/file-job.ts';
import type { KeptPrints } from '../files/packed-prints.ts';
import { recordAt as at, createTapeRecords, type TapeRecords, recordWidth as width } from './stock-records.ts';

/** A stock tape read from its files, which feeds the sessions of symbols one after the other. */
export interface StockTapeFiles {
  /** Each file's part of its sessions, by path. */
  readonly filesHours: ReadonlyMap<string, ReadonlyMap<SessionDate, TapeHours>>;
  /** The sessions of all files, including waiting prints. */
  readonly hours: ReadonlyMap<SessionDate, TapeHours>;
  /** Number of waiting prints. */
  readonly joined: number;
  readonly symbols: readonly string[];
  /**
   * Feeds the prints of a symbol's session, in order of time, to the function that `begin` returns for it, then calls
   * `end`; then those of the next. The print is one reused object. Call it once.
   */
  feed(
    begin: (symbol: string, session: SessionDate) => (print: StockPrint) => void,
    end: () => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface StockTapeReading {
  files: readonly TapeFile[];
  /** Waiting prints for the sessions of the files. */
  waiting(hours: ReadonlyMap<SessionDate, TapeHours>): Promise<WaitingPrints[]>;
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

/** Adds the prints of the files to the sorter. Returns the contents of each file. */
async function readFiles({ files, refused, ...reading }: StockTapeReading, records: TapeRecords) {
  const filesHours = new Map<string, ReadonlyMap<SessionDate, TapeHours>>();
  for (const { path, onBytes } of files) {
    const [days, hours] = [closedDayCounter(), tapeHoursCounter()];
    filesHours.set(path, hours.sessions);
    for await (const prints of readStockTrades(path, { ...reading, onBytes })) {
      if (refused()) continue;
      for (const print of prints) {
        days.add(print.tsMs);
        hours.add(print.tsMs);
        const full = records.push(print);
        if (full) await full;
      }
    }
    if (!refused()) days.check(path);
  }
  return filesHours;
}

/**
 * Reads stock tapes as one, with their lines in any order. Memory is that of a sorter. Throws `TapeFileError`. Always
 * close it, also after an error.
 */
export async function readStockTape(reading: StockTapeReading): Promise<StockTapeFiles> {
  const records = createTapeRecords();
  const { sorter } = records;
  try {
    const filesHours = await readFiles(reading, records);
    const waited = tapeHoursCounter();
    const waiting = reading.refused() ? [] : await reading.waiting(joinedHours(filesHours.values()));
    for (const { symbol, kept } of waiting) await records.join(symbol, kept, waited.add);
    return {
      filesHours,
      hours: joinedHours([...filesHours.values(), waited.sessions]),
      joined: [...waited.sessions.values()].reduce((sum, { prints }) => sum + prints, 0),
      symbols: records.symbols,
      async feed(begin, end) {
        let symbol = -1;
        let sessionEndMs = -Infinity;
        let take: ((print: StockPrint) => void) | null = null;
        for await (const batch of sorter.sorted()) {
          reading.files.at(-1)!.onBytes(0);
          for (let i = 0; i < batch.length; i += width) {
            if (batch[i + at.symbol] !== symbol || batch[i + at.tsMs]! >= sessionEndMs) {
              if (take) await end();
              symbol = batch[i + at.symbol]!;
              const { date, toMs } = tradeSpanAt(batch[i + at.tsMs]!);
              sessionEndMs = toMs;
              take = begin(records.symbols[symbol]!, date);
            }
            take!(records.filled(batch, i));
          }
        }
        if (take) await end();
      },
      close: () => sorter.close(),
    };
  } catch (error) {
    await sorter.close();
    throw error;
  }
}
