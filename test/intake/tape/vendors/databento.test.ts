import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readBytes, TapeFileError } from '../../../../src/intake/tape/csv/tape-file.ts';
import { databento } from '../../../../src/intake/tape/vendors/databento.ts';
import {
  type DbnFile,
  dbnBar,
  dbnFile,
  dbnMapping,
  dbnQuote,
  dbnSchemas,
  dbnSystem,
  dbnTrade,
  undefinedPrice,
} from '../../../support/tapes/dbn-encoder.ts';
import { vendorReading } from '../../../support/tapes/vendor-reading.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import '../../../support/property-seed.ts';

const read = vendorReading(temporaryFolder());
const at = 1710509400123456789n;
const [call, put] = ['SPY   240419C00520000', 'SPY   240419P00520000'];
const span = { from: 20240315, to: 20240316, instrument: 7 };
const mappings = [{ symbol: call, spans: [span] }];
const trade = { at, price: 1.25, size: 7, sequence: 41 };

async function textOf(bytes: Uint8Array, name = 'x.dbn'): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of readBytes(read.write(name, bytes))) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The rows of bytes that arrive in pieces of a size, or the reason why they are rejected. */
async function outcome(bytes: Buffer, size: number): Promise<string> {
  let text = '';
  async function* pieces() {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }
  try {
    for await (const part of databento.encoding!.csv(pieces(), 'a.dbn')) text += part;
  } catch (error) {
    return (error as Error).message;
  }
  return text;
}

const rejected = async (bytes: Uint8Array, reason: RegExp) => expect(textOf(bytes)).rejects.toThrow(reason);

test('the encoder writes records of the published sizes, and a published record as it is published', () => {
  const sizes = [dbnTrade(trade), dbnQuote({ ...trade, bid: 1, ask: 2 }), dbnMapping({ at }, call)].map(
    ({ length }) => length,
  );
  expect(sizes).toEqual([48, 80, 176]);
  // The bar of rust/dbn/src/record/layout_tests.rs.
  const bar = {
    publisher: 1,
    instrument: 5482,
    at: 1609160400000000000n,
    open: 372025,
    high: 372050,
    low: 372025,
    close: 372050,
    volume: 57,
  };
  expect(dbnBar(bar, 'ohlcv1s')).toHaveLength(56);
  const bytes = dbnBar(bar, 'ohlcv1s');
  expect([bytes[0], bytes[1], bytes.readUInt16LE(2), bytes.readUInt32LE(4), bytes.readBigUInt64LE(8)]).toEqual([
    14,
    0x20,
    1,
    5482,
    bar.at,
  ]);
  expect([bytes.readBigInt64LE(16), bytes.readBigInt64LE(24), bytes.readBigUInt64LE(48)]).toEqual([
    372025000000000n,
    372050000000000n,
    57n,
  ]);
});

describe('prints in DBN', () => {
  test.each([1, 2, 3] as const)(
    'of version %i are those of the contract that the file maps, to the nanosecond',
    async (version) => {
      const file = dbnFile({
        version,
        schema: dbnSchemas.trades,
        mappings,
        records: [dbnTrade(trade), dbnSystem({ at })],
      });
      const { records, bad } = await read.optionTrades(read.write('trades.dbn', file));
      expect(bad).toEqual([]);
      expect(records).toHaveLength(1);
      expect(records[0]).toMatchObject({
        tsMs: 1710509400123,
        tsNanos: 456789,
        price: 12_500,
        size: 7,
        exchange: 302,
        conditions: [],
      });
      expect(records[0]!.contract.id).toBe('O:SPY240419C00520000');
      expect(await textOf(zstdCompressSync(file), 'x.dbn.zst')).toBe(await textOf(file));
    },
  );

  test('of stocks have the exchange or the facility of their publisher, and their sequence as id', async () => {
    const stock = { ...trade, price: 14.055, instrument: 7 };
    const records = [{ publisher: 81 }, { publisher: 55 }, { publisher: 999 }].map((more) =>
      dbnTrade({ ...stock, ...more }),
    );
    const file = dbnFile({ schema: dbnSchemas.trades, mappings: [{ symbol: 'BRK.B', spans: [span] }], records });
    const { records: prints } = await read.stockTrades(read.write('stocks.dbn', file));
    expect(prints.map(({ symbol, exchange, trf, id }) => [symbol, exchange, trf, id])).toEqual([
      ['BRK.B', 12, 0, 41],
      ['BRK.B', 4, 201, 41],
      ['BRK.B', 1999, 0, 41],
    ]);
  });

  test('of tbbo and tcbbo are the same; other events of the book are none', async () => {
    const quote = { ...trade, bid: 1.2, ask: 1.3 };
    for (const [schema, type] of [
      [dbnSchemas.tbbo, 'mbp1'],
      [dbnSchemas.tcbbo, 'tcbbo'],
    ] as const) {
      const records = [dbnQuote(quote, type), dbnQuote({ ...quote, action: 'A' }, type)];
      const { records: prints } = await read.optionTrades(
        read.write('tbbo.dbn', dbnFile({ schema, mappings, records })),
      );
      expect(prints.map(({ price, size }) => [price, size])).toEqual([[12_500, 7]]);
    }
  });

  test('have the symbol of the date: a number that is reused is another instrument on another day', async () => {
    const spans = [span, { from: 20240318, to: 20240319, instrument: 8 }];
    const next = { symbol: put, spans: [{ from: 20240318, to: 20240319, instrument: 7 }] };
    const midnight = BigInt(Date.parse('2024-03-18T00:00:00Z')) * 1_000_000n;
    const records = [{ at }, { at: midnight }, { at: midnight, instrument: 8 }, { at: midnight - 1n }].map((more) =>
      dbnTrade({ ...trade, ...more }),
    );
    const file = dbnFile({ schema: dbnSchemas.trades, mappings: [{ symbol: call, spans }, next], records });
    const { records: prints, bad } = await read.optionTrades(read.write('reused.dbn', file));
    expect(prints.map(({ contract }) => contract.id.at(-9))).toEqual(['C', 'P', 'C']);
    expect(bad).toEqual(['5: ticker: expected O: and an OSI symbol, got "instrument 7 without a symbol"']);
  });

  test('of a live session have the symbols of its mapping records; numbers can be the asked symbols', async () => {
    const live = dbnFile({ schema: dbnSchemas.trades, records: [dbnMapping({ at }, put), dbnTrade(trade)] });
    expect((await read.optionTrades(read.write('live.dbn', live))).records[0]!.contract.id).toBe(
      'O:SPY240419P00520000',
    );
    const asked = [{ symbol: '7', spans: [{ ...span, instrument: put }] }];
    const byNumber = dbnFile({ schema: dbnSchemas.trades, types: [0, 1], mappings: asked, records: [dbnTrade(trade)] });
    expect((await read.optionTrades(read.write('numbers.dbn', byNumber))).records[0]!.contract.id).toBe(
      'O:SPY240419P00520000',
    );
  });

  test('have exact prices, of every size and sign; an undefined one is a bad line', async () => {
    const prices = [
      1n,
      -5n,
      999_999_999n,
      1_250_000_000n,
      9_007_199_254_740_993n,
      undefinedPrice,
      100_000n,
      -1_500_000_000n,
    ];
    const records = prices.map((price) => dbnTrade({ ...trade, price }));
    const lines = (await textOf(dbnFile({ schema: dbnSchemas.trades, mappings, records }))).split('\n').slice(1, -1);
    // Billionths as text, by the position of the point alone.
    const written = prices.map((price) => {
      if (price === undefinedPrice) return null;
      const digits = String(price < 0n ? -price : price).padStart(10, '0');
      return `${price < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
    });
    const found = lines.map((line) => line.split(',')[4]!);
    expect(found[5]).toBe('');
    for (const [i, text] of written.entries())
      if (text !== null) expect(found[i]!.padEnd(text.length, found[i]!.includes('.') ? '0' : ' ')).toBe(text);
  });
});

test('quotes in DBN are the best bid and offer after each event; an undefined side is none', async () => {
  const quote = { ...trade, bid: 1.2, ask: 1.3, action: 'A' };
  for (const [schema, type, sequence] of [
    [dbnSchemas.mbp1, 'mbp1', 41],
    [dbnSchemas.cmbp1, 'cmbp1', 1],
  ] as const) {
    const records = [dbnQuote(quote, type), dbnQuote({ ...quote, bid: undefinedPrice, sequence: 42 }, type)];
    const { records: quotes } = await read.optionQuotes(
      read.write('quotes.dbn', dbnFile({ schema, mappings, records })),
    );
    expect(quotes.map(({ bid, ask, sequence: number }) => [bid, ask, number])).toEqual([
      [12_000, 13_000, sequence],
      [0, 13_000, sequence + 1],
    ]);
  }
});

describe('bars in DBN', () => {
  const open = BigInt(Date.parse('2024-03-15T13:30:00Z')) * 1_000_000n;
  const bar = { at: open, open: 9, high: 9.2, low: 8.9, close: 9.1, volume: 1200 };
  const stock = [{ symbol: 'KO', spans: [span, { from: 20240319, to: 20240320, instrument: 7 }] }];
  const file = (schema: number, ...records: Buffer[]) =>
    read.write('bars.dbn', dbnFile({ schema, mappings: stock, records }));

  test('of minutes and sessions are bars; of seconds they become minutes', async () => {
    const expected = { open: 9, high: 9.2, low: 8.9, close: 9.1, volume: 1200, vwap: null, tradeCount: null };
    const minutes = await read.minuteBars(file(dbnSchemas.ohlcv1m, dbnBar(bar)));
    expect(minutes.records).toEqual([{ symbol: 'KO', bar: { tsMs: Number(open / 1_000_000n), ...expected } }]);
    const session = { ...bar, at: BigInt(Date.parse('2024-03-15T00:00:00Z')) * 1_000_000n };
    expect((await read.dayBars(file(dbnSchemas.ohlcvEod, dbnBar(session, 'ohlcvEod')))).records[0]!.bar.tsMs).toBe(
      Date.parse('2024-03-15T04:00:00Z'),
    );
    const seconds = [
      { ...bar, at: open + 1_000_000_000n },
      { ...bar, at: open + 59_000_000_000n, open: 9.1, high: 10.5, low: 9, close: 10, volume: 3 },
      { ...bar, at: open + 60_000_000_000n, volume: 5 },
    ];
    const made = await read.minuteBars(file(dbnSchemas.ohlcv1s, ...seconds.map((second) => dbnBar(second, 'ohlcv1s'))));
    expect(
      made.records.map(({ bar: minute }) => [
        minute.tsMs,
        minute.open,
        minute.high,
        minute.low,
        minute.close,
        minute.volume,
      ]),
    ).toEqual([
      [Number(open / 1_000_000n), 9, 10.5, 8.9, 10, 1203],
      [Number(open / 1_000_000n) + 60_000, 9, 9.2, 8.9, 9.1, 5],
    ]);
    const reversed = seconds.toReversed().map((second) => dbnBar(second, 'ohlcv1s'));
    await expect(read.minuteBars(file(dbnSchemas.ohlcv1s, ...reversed))).rejects.toThrow(
      /ts_event: expected ascending/,
    );
  });

  test('of UTC days, and files of other schemas, are rejected by name', async () => {
    await rejected(
      dbnFile({ schema: dbnSchemas.ohlcv1d }),
      /byte 24: expected the schema .*, got ohlcv-1d, whose days are of UTC/,
    );
    await rejected(dbnFile({ schema: dbnSchemas.mbo }), /got mbo/);
    await rejected(dbnFile({ schema: 0xffff }), /got records of several/);
    await rejected(dbnFile({ schema: 77 }), /got schema 77/);
  });
});

describe('a damaged DBN file', () => {
  const whole = (more: Partial<DbnFile> = {}) =>
    dbnFile({ schema: dbnSchemas.trades, mappings, records: [dbnTrade(trade), dbnTrade(trade)], ...more });

  test('that ends anywhere but after a record is rejected with the byte', async () => {
    const bytes = whole();
    const ends = new Set([bytes.length - 96, bytes.length - 48]);
    for (let length = 3; length < bytes.length; length++) {
      if (ends.has(length)) continue;
      expect(await outcome(bytes.subarray(0, length), bytes.length)).toMatch(/^byte \d+: .*the file is incomplete/);
    }
    await rejected(bytes.subarray(0, -1), new RegExp(`byte ${bytes.length - 48}: the record ends after 47 bytes`));
  });

  test('with a header that claims what is not there is rejected before memory is taken', async () => {
    const changed = (offset: number, value: number, size: 1 | 2 | 4 = 4) => {
      const bytes = whole();
      bytes.writeUIntLE(value, offset, size);
      return bytes;
    };
    await rejected(changed(3, 9, 1), /byte 3: expected version 1 to 3/);
    await rejected(changed(3, 0, 1), /byte 3/);
    await rejected(changed(4, 0xffffffff), /byte 4: expected metadata of 100 to/);
    await rejected(changed(4, 99), /byte 4/);
    await rejected(changed(8 + 45, 300, 2), /byte 53: expected a length of symbols, got 300/);
    await rejected(changed(8 + 100, 0xffffffff), /byte 108: expected a number of items that fit/);
    await rejected(changed(8 + 104, 0x0fffffff), /byte 112: expected a number of items that fit/);
    const first = whole().length - 96;
    await rejected(changed(first, 3, 1), new RegExp(`byte ${first}: expected a record of at least 16 bytes, got 12`));
    await rejected(
      whole({ mappings: [{ symbol: call, spans: [{ ...span, from: 20240230 }] }] }),
      /expected a date YYYYMMDD/,
    );
    await rejected(
      whole({ mappings: [{ symbol: call, spans: [{ ...span, instrument: 'x' }] }] }),
      /number of an instrument/,
    );
  });

  test('is read the same in pieces of any size, or rejected the same', async () => {
    const bytes = whole();
    const damage = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255), fc.integer({ min: 1, max: 60 }));
    await fc.assert(
      fc.asyncProperty(damage, async ([offset, value, size]) => {
        const damaged = Buffer.from(bytes);
        damaged[offset] = value;
        const [inPieces, atOnce] = [await outcome(damaged, size), await outcome(damaged, damaged.length)];
        expect(inPieces).toBe(atOnce);
        expect(inPieces).toMatch(/^ticker,|byte \d+|^metadata: /);
      }),
    );
  });

  test('is an error of the file for the datasets', async () => {
    await expect(read.optionTrades(read.write('cut.dbn', whole().subarray(0, -1)))).rejects.toBeInstanceOf(
      TapeFileError,
    );
  });
});
