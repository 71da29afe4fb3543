import type { StockPrint } from '../../../core/domain/market/print.ts';
import { inOrder, type KeptPrints, numbered, packPrints } from '../files/packed-prints.ts';
import { RecordSorter } from '../files/record-sorter.ts';

/** Offsets in a print's record; the symbol is the group. */
export const recordAt = {
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
  /** Number of the file that has it; stored records lack it. */
  file: 13,
} as const;
const at = recordAt;
/** Number of values per record. */
export const recordWidth = 14;
const width = recordWidth;
const storedWidth = at.file;

const emptyPrint = (): StockPrint => ({
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
});

/** Writes a print into a record. */
function put(record: Float64Array | number[], i: number, print: StockPrint, symbol: number, conditions: number): void {
  record[i + at.symbol] = symbol;
  record[i + at.tsMs] = print.tsMs;
  record[i + at.tsNanos] = print.tsNanos;
  record[i + at.exchange] = print.exchange;
  record[i + at.trf] = print.trf;
  record[i + at.id] = print.id;
  record[i + at.price] = print.price;
  record[i + at.size] = print.size;
  record[i + at.sizeMicros] = print.sizeMicros;
  record[i + at.conditions] = conditions;
  record[i + at.correction] = print.correction;
  record[i + at.sequence] = print.sequence;
  record[i + at.tape] = print.tape;
}

/** Prints as records, by symbol and time, and the meanings of their numbers. */
export interface TapeRecords {
  readonly sorter: RecordSorter;
  readonly symbols: readonly string[];
  push(print: StockPrint, file: number): void | Promise<void>;
  /** Adds stored prints of a symbol as those of a further file; their number. */
  join(symbol: string, kept: KeptPrints, file: number): Promise<number>;
  /** The print at an offset, in one reused object. */
  filled(records: Float64Array, i: number): StockPrint;
}

/** Creates empty records. */
export function createTapeRecords(): TapeRecords {
  const sorter = new RecordSorter({ width, keys: [at.symbol, at.tsMs] });
  const symbols = internTable<string>();
  const lists = internTable<readonly number[]>();
  const record = new Float64Array(width);
  const print = emptyPrint();
  return {
    sorter,
    symbols: symbols.items,
    push(each, file) {
      put(record, 0, each, symbols.of(each.symbol), lists.of(each.conditions));
      record[at.file] = file;
      return sorter.push(record);
    },
    async join(symbol, { conditions, records: bytes }, file) {
      const records = new Float64Array(bytes.buffer, 0, bytes.length / 8);
      const numbers = conditions.map((list) => lists.of(list));
      for (let i = 0; i < records.length; i += storedWidth) {
        record.set(records.subarray(i, i + storedWidth));
        record[at.symbol] = symbols.of(symbol);
        record[at.conditions] = numbers[records[i + at.conditions]!]!;
        record[at.file] = file;
        await sorter.push(record);
      }
      return records.length / storedWidth;
    },
    filled(records, i) {
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
      return print;
    },
  };
}

/** Packs prints of a symbol's session, to store them. */
export function packedStockPrints(prints: Iterable<StockPrint>): Uint8Array<ArrayBuffer> {
  const numbers: number[] = [];
  const lists = internTable<readonly number[]>();
  for (const print of prints) put(numbers, numbers.length, print, 0, lists.of(print.conditions));
  const records = Float64Array.from(numbers);
  const { names, of } = numbered(lists.items, (list) => list.join());
  for (let i = at.conditions; i < records.length; i += storedWidth) records[i] = of(lists.items[records[i]!]!);
  const bytes = new Uint8Array(inOrder(records, storedWidth).buffer);
  return packPrints({ contracts: [], conditions: names, records: bytes });
}

/** Assigns small numbers to items, in the order of their first use. */
interface InternTable<T> {
  /** The items by number. */
  items: T[];
  /** The number of an item; a new one for a new item. */
  of(item: T): number;
}

/** Creates an empty table. Items are compared like keys of a `Map`: lists are equal only if they are the same array. */
function internTable<T>(): InternTable<T> {
  const numbers = new Map<T, number>();
  const items: T[] = [];
  return {
    items,
    of(item) {
      let number = numbers.get(item);
      if (number === undefined) {
        number = items.push(item) - 1;
        numbers.set(item, number);
      }
      return number;
    },
  };
}
