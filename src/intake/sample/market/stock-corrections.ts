import type { Random } from './random.ts';
import type { Execution } from './stock-conditions.ts';
import type { SampleStockPrint } from './stock-minute.ts';

/** A print as the ledger receives it. */
export interface StockRecord {
  print: SampleStockPrint;
  execution: Execution;
  /** True if it counts: it is valid, and an execution. */
  counts: boolean;
  /** True if it is on the tape a second time. */
  repeats: boolean;
  extended: boolean;
}

const wrongPrice = (price: number, random: Random) => Math.round(price * (1 + 0.02 + 0.08 * random.next()));

/**
 * Adds corrections: for some prints the tape also contains the wrong data first sent (the record then says it is later
 * corrected, and the correction message contains the wrong data); other prints are cancelled; and some lines are
 * repeated.
 */
export function addCorrections(records: StockRecord[], random: Random): void {
  let nextId = records.length;
  for (const record of records.filter(({ counts, extended }) => counts && !extended)) {
    const drawn = random.next();
    if (drawn > 0.0012) continue;
    const { print, execution } = record;
    const afterMs = print.tsMs + 5000 + Math.floor(random.next() * 120_000);
    const wrong = { price: wrongPrice(print.price, random), size: print.size + 100 };
    const uncounted = { execution, counts: false, repeats: false, extended: false };
    if (drawn < 0.0005) {
      print.correction = 1;
      records.push({ ...uncounted, print: { ...print, ...wrong, tsMs: afterMs, correction: 12 } });
    } else if (drawn < 0.001) {
      const [code, message] = drawn < 0.00075 ? [7, 10] : [8, 11];
      const wrongPrint = { ...print, ...wrong, id: ++nextId, tsMs: print.tsMs + 1 };
      records.push({ ...uncounted, print: { ...wrongPrint, correction: code } });
      records.push({ ...uncounted, print: { ...wrongPrint, tsMs: afterMs, correction: message } });
    } else {
      records.push({ ...uncounted, print, repeats: true });
    }
  }
}
