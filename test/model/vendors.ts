// Vendors' files, written from the model's prints: each format with what it states, and lacks.
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { randomOf } from '../support/random.ts';
import { dbnFile, dbnSchemas, dbnTrade } from '../support/tapes/dbn-encoder.ts';
import { plusDays } from './calendar.ts';
import type { Print } from './world.ts';

/** A file as a vendor writes it. */
export interface VendorFile {
  name: string;
  bytes: Buffer;
  /** The prints as the file states them, in its order. */
  prints: readonly Print[];
  /** Number of lines that no gateway can store. */
  bad: number;
}

const dollars = (units: number) => String(units / 1e4);
const nanosOf = ({ ms, nanos }: Print) => `${ms}${String(nanos).padStart(6, '0')}`;

const columns: Record<string, (print: Print) => string> = {
  ticker: ({ symbol }) => symbol,
  conditions: ({ conditions }) => (conditions.length > 1 ? `"${conditions}"` : String(conditions)),
  correction: ({ correction }) => String(correction),
  exchange: ({ exchange }) => String(exchange),
  id: ({ id }) => id,
  price: ({ price }) => dollars(price),
  sequence_number: ({ sequence }) => String(sequence),
  sip_timestamp: nanosOf,
  size: ({ size }) => String(size),
  tape: ({ tape }) => String(tape),
  trf_id: ({ trf }) => (trf === 0 ? '' : String(trf)),
};

/** The flat file: every column, in an order of the seed. */
export function csvOf(prints: readonly Print[], seed: number): string {
  const random = randomOf(seed);
  const names = Object.keys(columns);
  for (let i = names.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [names[i], names[j]] = [names[j]!, names[i]!];
  }
  return [names.join(), ...prints.map((print) => names.map((name) => columns[name]!(print)).join())].join('\n');
}

/** Pages of `/v3/trades` of one ticker, whose name is that of the file. */
function massiveOf(prints: readonly Print[]): string {
  const results = prints.map(
    (print) =>
      `{"conditions":[${print.conditions}],"correction":${print.correction},"exchange":${print.exchange},` +
      `"id":"${print.id}","price":${dollars(print.price)},"sequence_number":${print.sequence},` +
      `"sip_timestamp":${nanosOf(print)},"size":${print.size},"tape":${print.tape}` +
      `${print.trf === 0 ? '' : `,"trf_id":${print.trf}`}}`,
  );
  return `{"status":"OK","request_id":"x","results":[${results.join()}]}`;
}

/** Publishers of the vendor by exchange, or facility. */
const publishers: Record<number, number> = { 10: 9, 11: 43, 12: 2, 8: 8, 19: 5, 21: 15, 201: 19, 202: 17, 203: 18 };

function dbnOf(prints: readonly Print[]): Buffer {
  const symbols = [...new Set(prints.map(({ symbol }) => symbol))];
  const dates = prints.map(({ ms }) => new Date(ms).toISOString().slice(0, 10)).sort();
  const number = (date: string) => Number(date.replaceAll('-', ''));
  return dbnFile({
    schema: dbnSchemas.trades,
    mappings: symbols.map((symbol, i) => ({
      symbol,
      spans: [{ from: number(dates[0]!), to: number(plusDays(dates.at(-1)!, 1)), instrument: i + 1 }],
    })),
    records: prints.map((print) =>
      dbnTrade({
        ...{
          publisher: publishers[print.trf || print.exchange]!,
          instrument: symbols.indexOf(print.symbol) + 1,
          at: BigInt(nanosOf(print)),
        },
        ...{ price: print.price / 1e4, size: print.size, sequence: print.sequence },
      }),
    ),
  });
}

export type StockFormat = 'csv' | 'csv.gz' | 'csv.zst' | 'massive' | 'dbn';
export const stockFormats: readonly StockFormat[] = ['csv', 'csv.gz', 'csv.zst', 'massive', 'dbn'];

/** A print as a format states it. */
function stated(format: StockFormat, print: Print): Print {
  if (format !== 'dbn') return print;
  // No conditions, no corrections; its id is its sequence.
  return { ...print, conditions: [], correction: 0, id: String(print.sequence), tape: 0 };
}

/** Stock prints as one file, or one for each ticker where a format has no other way. */
export function stockFiles(format: StockFormat, given: readonly Print[], name: string, seed: number): VendorFile[] {
  const prints = given.map((print) => stated(format, print));
  if (format === 'dbn') return [{ name: `${name}.dbn`, bytes: dbnOf(prints), prints, bad: 0 }];
  if (format === 'massive') {
    return [...new Set(prints.map(({ symbol }) => symbol))].map((symbol) => {
      const own = prints.filter((print) => print.symbol === symbol);
      return { name: `${symbol}_${name}.json`, bytes: Buffer.from(massiveOf(own)), prints: own, bad: 0 };
    });
  }
  const text = Buffer.from(csvOf(prints, seed));
  const bytes = format === 'csv.gz' ? gzipSync(text) : format === 'csv.zst' ? zstdCompressSync(text) : text;
  return [{ name: `${name}.${format}`, bytes, prints, bad: 0 }];
}
