import type { InstantBounds } from '../../domain/instant-gate.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../../domain/market-time.ts';
import type { StockPrint } from '../../domain/print.ts';
import type { OnBadLine, OnBytes } from '../../tape/csv/tape-file.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { readStockTrades } from '../../tape/prints/stock-trades.ts';
import { internTable } from '../files/intern-table.ts';
import { createRecordSorter } from '../files/record-sorter.ts';

// A print as numbers, for sorting; the symbol is the group.
const at = {
  symbol: 0,
  tsMs: 1,
  tsNanos: 2,
  exchange: 3,
  trf: 4,
  id: 5,
  price: 6,
  size: 7,
  sizeMicros: 8,
  conditions: 9,
  correction: 10,
  sequence: 11,
  tape: 12,
} as const;
const width = 13;

/** A stock tape read from its file, to be fed a symbol's session after the other. */
export interface StockTapeFile {
  readonly prints: number;
  /**
   * Feeds the prints of a symbol's session, in order of time, to what `begin` gives for it, then calls `end`; then
   * those of the next. The print is one object, filled again and again. To be called once.
   */
  feed(
    begin: (symbol: string, session: SessionDate) => (print: StockPrint) => void,
    end: () => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface StockTapeReading {
  path: string;
  bounds: InstantBounds;
  onBadLine: OnBadLine;
  onBytes: OnBytes;
  /** True once nothing more is collected: the file is read on only for its bad lines. */
  refused(): boolean;
}

/**
 * Reads a stock tape with its lines in any order. Memory holds what a sorter holds. Throws `TapeFileError`. Always
 * close it, also after an error.
 */
export async function readStockTape({ path, refused, ...reading }: StockTapeReading): Promise<StockTapeFile> {
  const sorter = createRecordSorter({ width, keys: [at.symbol, at.tsMs] });
  const symbols = internTable<string>();
  const lists = internTable<readonly number[]>();
  const record = new Float64Array(width);
  const days = closedDayCounter();
  try {
    for await (const prints of readStockTrades(path, reading)) {
      if (refused()) continue;
      for (const print of prints) {
        days.add(print.tsMs);
        record[at.symbol] = symbols.of(print.symbol);
        record[at.tsMs] = print.tsMs;
        record[at.tsNanos] = print.tsNanos;
        record[at.exchange] = print.exchange;
        record[at.trf] = print.trf;
        record[at.id] = print.id;
        record[at.price] = print.price;
        record[at.size] = print.size;
        record[at.sizeMicros] = print.sizeMicros;
        record[at.conditions] = lists.of(print.conditions);
        record[at.correction] = print.correction;
        record[at.sequence] = print.sequence;
        record[at.tape] = print.tape;
        const full = sorter.push(record);
        if (full) await full;
      }
    }
    if (!refused()) days.check(path);
  } catch (error) {
    await sorter.close();
    throw error;
  }
  const print: StockPrint = {
    symbol: '',
    tsMs: 0,
    tsNanos: 0,
    exchange: 0,
    trf: 0,
    id: 0,
    price: 0,
    size: 0,
    sizeMicros: 0,
    conditions: [],
    correction: 0,
    sequence: 0,
    tape: 0,
  };
  const fill = (records: Float64Array, i: number) => {
    print.symbol = symbols.items[records[i + at.symbol]!]!;
    print.tsMs = records[i + at.tsMs]!;
    print.tsNanos = records[i + at.tsNanos]!;
    print.exchange = records[i + at.exchange]!;
    print.trf = records[i + at.trf]!;
    print.id = records[i + at.id]!;
    print.price = records[i + at.price]!;
    print.size = records[i + at.size]!;
    print.sizeMicros = records[i + at.sizeMicros]!;
    print.conditions = lists.items[records[i + at.conditions]!]!;
    print.correction = records[i + at.correction]!;
    print.sequence = records[i + at.sequence]!;
    print.tape = records[i + at.tape]!;
  };
  return {
    prints: sorter.size,
    async feed(begin, end) {
      let symbol = -1;
      let dayEndMs = -Infinity;
      let take: ((print: StockPrint) => void) | null = null;
      for await (const records of sorter.sorted()) {
        reading.onBytes(0);
        for (let i = 0; i < records.length; i += width) {
          if (records[i + at.symbol] !== symbol || records[i + at.tsMs]! >= dayEndMs) {
            if (take) await end();
            symbol = records[i + at.symbol]!;
            const session = exchangeDate(records[i + at.tsMs]!);
            dayEndMs = exchangeInstant(addDays(session, 1));
            take = begin(symbols.items[symbol]!, session);
          }
          fill(records, i);
          take!(print);
        }
      }
      if (take) await end();
    },
    close: () => sorter.close(),
  };
}
