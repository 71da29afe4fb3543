import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContractBook } from '../../../src/core/domain/chain/contract-book.ts';
import { optionMinuteBars } from '../../../src/intake/tape/chains/option-bars.ts';
import { readCsv } from '../../../src/intake/tape/csv/csv.ts';
import { stockDayBars, stockMinuteBars } from '../../../src/intake/tape/csv/stock-bars.ts';
import type { BadLine } from '../../../src/intake/tape/csv/tape-file.ts';
import { unservedTickers } from '../../../src/intake/tape/csv/unserved-tickers.ts';
import { volatilityDayList } from '../../../src/intake/tape/csv/volatility-days.ts';
import { readOptionQuotes } from '../../../src/intake/tape/prints/option-quotes.ts';
import { readOptionTrades } from '../../../src/intake/tape/prints/option-trades.ts';
import { readStockTrades } from '../../../src/intake/tape/prints/stock-trades.ts';
import { wideBounds as bounds } from './tape-lines.ts';

/** A file of a vendor in a folder, by the readers of the datasets. */
export function vendorReading(folder: () => string) {
  const write = (name: string, content: string | Uint8Array) => {
    const path = join(folder(), name);
    writeFileSync(path, content);
    return path;
  };
  async function all<T>(read: (onBadLine: (bad: BadLine) => void) => AsyncIterable<T[] | { records: T[] }>) {
    const [records, bad]: [T[], string[]] = [[], []];
    for await (const batch of read(({ line, reason }) => bad.push(`${line}: ${reason}`)))
      records.push(...(Array.isArray(batch) ? batch : batch.records));
    return { records, bad };
  }
  const unserved = unservedTickers();
  return {
    write,
    stockTrades: (path: string) => all((onBadLine) => readStockTrades(path, { bounds, unserved, onBadLine })),
    optionTrades: (path: string, book = createContractBook()) =>
      all((onBadLine) => readOptionTrades(path, { book, bounds, onBadLine })),
    optionQuotes: (path: string, book = createContractBook()) =>
      all((onBadLine) => readOptionQuotes(path, { book, bounds, onBadLine })),
    minuteBars: (path: string) => all((onBadLine) => readCsv(path, stockMinuteBars({ bounds, unserved }), onBadLine)),
    dayBars: (path: string) => all((onBadLine) => readCsv(path, stockDayBars({ bounds, unserved }), onBadLine)),
    volatilityDays: (path: string) => all((onBadLine) => readCsv(path, [volatilityDayList], onBadLine)),
    optionBars: (path: string) => all((onBadLine) => readCsv(path, [optionMinuteBars(bounds)], onBadLine)),
  };
}
