import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGunzip, gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitNanos, splitSize, toPriceUnits, tradeNumber } from '../../../../src/core/domain/market/print.ts';
import { unservedTickers } from '../../../../src/intake/tape/csv/unserved-tickers.ts';
import { readStockTrades } from '../../../../src/intake/tape/prints/stock-trades.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { allOf, vendorFile, wideBounds } from '../../../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const reading = { bounds: wideBounds, unserved: unservedTickers() };
const header =
  'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp';
const good = 'BAC,"12,37",0,4,71675,1381410000123000000,14.055,8801,1381410000123456789,100,1,202,1381410000123400000';

const read = (lines: readonly string[], name = 'trades.csv') =>
  allOf((onBadLine) => readStockTrades(vendorFile(folder(), name, lines), { ...reading, onBadLine }));
const line = (change: Record<string, string>) =>
  header
    .split(',')
    .map((name, i) => change[name] ?? (name === 'conditions' ? '"12,37"' : good.replace('"12,37"', '').split(',')[i]))
    .join(',');

describe('a stock trades file', () => {
  test('gives every print with its nanoseconds, conditions and place of report', async () => {
    for (const name of ['trades.csv', 'trades.csv.gz']) {
      expect(await read([header, good], name)).toEqual({
        bad: [],
        records: [
          {
            symbol: 'BAC',
            exchange: 4,
            trf: 202,
            id: 71675,
            price: 140_550,
            size: 100,
            sizeMicros: 0,
            conditions: [12, 37],
            correction: 0,
            tsMs: 1381410000123,
            tsNanos: 456789,
            sequence: 8801,
            tape: 1,
          },
        ],
      });
    }
  });

  test('may have blank conditions, correction, tape and facility, and fractions of shares', async () => {
    const blank = line({ conditions: '', correction: '', tape: '', trf_id: '', size: '0.333333' });
    const { records } = await read([header, blank, line({ size: '10.5' }), line({ size: '2.0' })]);
    expect(records[0]).toMatchObject({ conditions: [], correction: 0, tape: 0, trf: 0, size: 0, sizeMicros: 333_333 });
    expect(records.map(({ size, sizeMicros }) => [size, sizeMicros])).toEqual([
      [0, 333_333],
      [10, 500_000],
      [2, 0],
    ]);
  });

  test('may have its columns in any order, more of them, and none that are optional', async () => {
    const { records, bad } = await read([
      'size,price,extra,id,sip_timestamp,ticker,exchange,sequence_number,conditions',
      '5,12,"x, y",a-1,1381410000123456789,BRK.B,10,3,37',
    ]);
    expect(bad).toEqual([]);
    expect(records).toEqual([
      expect.objectContaining({ symbol: 'BRK.B', price: 120_000, size: 5, id: tradeNumber('a-1'), conditions: [37] }),
    ]);
  });

  test('reads prices to 1e-4 dollars and rounds finer ones', async () => {
    const prices = ['0.0001', '700000', '.5', '12.34567', '1e-2', '3.', '12.', '620123.4567'];
    const { records, bad } = await read([header, ...prices.map((price) => line({ price }))]);
    expect(records.map(({ price }) => price)).toEqual([
      1, 7_000_000_000, 5000, 123_457, 100, 30_000, 120_000, 6_201_234_567,
    ]);
    expect(bad).toEqual([]);
  });

  test.each([
    ['ticker', { ticker: 'BaC?' }, 'ticker: expected a ticker such as SPY or BRK.B, got "BaC?"'],
    ['conditions', { conditions: '"12,x"' }, 'conditions: expected condition ids, got "12,x"'],
    ['price', { price: '0' }, 'price: expected a price above 0, at most 1000000000, got "0"'],
    ['price', { price: '0x10' }, 'price: expected a price above 0, at most 1000000000, got "0x10"'],
    ['price', { price: '' }, 'price: expected a price above 0, at most 1000000000, got ""'],
    ['price', { price: '1.2.3' }, 'price: expected a price above 0, at most 1000000000, got "1.2.3"'],
    ['size', { size: '-5' }, 'size: expected a number of shares from 0 to 9000000000, got "-5"'],
    ['exchange', { exchange: '' }, 'exchange: expected an exchange id, got ""'],
    ['exchange', { exchange: '4.5' }, 'exchange: expected an exchange id, got "4.5"'],
    ['id', { id: '' }, 'id: expected a trade id, got ""'],
    ['sequence', { sequence_number: 'x' }, 'sequence_number: expected a whole number, got "x"'],
    [
      'stamp',
      { sip_timestamp: '1381410000' },
      'sip_timestamp: expected nanoseconds since 1970, not seconds, got "1381410000"',
    ],
    ['stamp', { sip_timestamp: '' }, 'sip_timestamp: expected nanoseconds since 1970, got ""'],
    [
      'stamp',
      { sip_timestamp: '1381410000123.45678' },
      'sip_timestamp: expected nanoseconds since 1970, got "1381410000123.45678"',
    ],
    ['trf', { trf_id: 'NYX' }, 'trf_id: expected a facility id or nothing, got "NYX"'],
    ['trf', { trf_id: '65536' }, 'trf_id: expected a facility id or nothing, got "65536"'],
  ])('tells a bad %s with its line and reads on', async (_, change, reason) => {
    const { records, bad } = await read([header, good, line(change), '', good]);
    expect(bad).toEqual([`3: ${reason}`]);
    expect(records).toHaveLength(2);
  });

  test('tells lines of another width and quotes that never end', async () => {
    const { records, bad } = await read([header, 'BAC,1', `${good},more`, good.replace('37"', '37'), good]);
    expect(bad).toEqual([
      '2: expected 13 columns, found 2',
      '3: expected 13 columns, found more',
      '4: unterminated quoted field',
    ]);
    expect(records).toHaveLength(1);
  });

  test('is refused without its columns, empty, or cut short', async () => {
    await expect(read(['ticker,price', 'BAC,1'])).rejects.toThrow(
      'trades.csv: line 1: the header has no column conditions, exchange, id, sequence_number, sip_timestamp, size',
    );
    await expect(read([])).rejects.toThrow('the file is empty; expected a header line');
    const whole = vendorFile(folder(), 'whole.csv.gz', [
      header,
      ...Array.from({ length: 5000 }, (_, i) => line({ id: `${i}` })),
    ]);
    const cut = join(folder(), 'cut.csv.gz');
    const bytes = readFileSync(whole);
    writeFileSync(cut, bytes.subarray(0, bytes.length - 20));
    await expect(allOf((onBadLine) => readStockTrades(cut, { ...reading, onBadLine }))).rejects.toThrow(
      'cut.csv.gz: the gzip data is truncated',
    );
  });

  test('counts lines over CRLF, blank ones and pieces of the file', async () => {
    const many = Array.from({ length: 9000 }, (_, i) =>
      i % 1000 === 999 ? line({ price: 'x' }) : i % 1000 === 5 ? '' : good,
    );
    const { records, bad } = await read([header, ...many].map((text) => `${text}\r`));
    expect(bad.map((reason) => Number.parseInt(reason, 10))).toEqual([
      1001, 2001, 3001, 4001, 5001, 6001, 7001, 8001, 9001,
    ]);
    expect(records).toHaveLength(9000 - 18);
  });

  test('any decimal price and size is read as the number it writes', async () => {
    const decimals = fc.tuple(
      fc.integer({ min: 1, max: 999_999 }),
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 999_999 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(decimals, { minLength: 1, maxLength: 50 }), async (values) => {
        const lines = values.map(([whole, cents, micros]) =>
          line({
            price: `${whole}.${String(cents).padStart(4, '0')}`,
            size: `${whole}.${String(micros).padStart(6, '0')}`,
          }),
        );
        const { records, bad } = await read([header, ...lines]);
        expect(bad).toEqual([]);
        expect(records.map(({ price, size, sizeMicros }) => [price, size, sizeMicros])).toEqual(
          values.map(([whole, cents, micros]) => [whole * 10_000 + cents, whole, micros]),
        );
      }),
      { numRuns: 20 },
    );
  });
});

describe.skipIf(!hasSharedData)('real stock tapes', () => {
  test('IBM of 2013-10-10 is read as csv-parse reads it', async () => {
    const path = sharedData(`stocks_trades/IBM/2013-10-10.csv.gz`);
    const { records, bad } = await allOf((onBadLine) => readStockTrades(path, { ...reading, onBadLine }));
    expect(bad).toEqual([]);
    let i = 0;
    const rows = createReadStream(path)
      .pipe(createGunzip())
      .pipe(parse({ columns: true }));
    for await (const row of rows as AsyncIterable<Record<string, string>>) {
      const print = records[i++]!;
      const wanted = {
        symbol: row.ticker,
        exchange: Number(row.exchange),
        trf: Number(row.trf_id),
        id: tradeNumber(row.id!),
        price: toPriceUnits(Number(row.price)),
        ...splitSize(Number(row.size)),
        conditions: row.conditions === '' ? [] : row.conditions!.split(',').map(Number),
        correction: Number(row.correction),
        ...splitNanos(row.sip_timestamp!),
        sequence: Number(row.sequence_number),
        tape: Number(row.tape),
      };
      // One assertion a print would take a minute.
      if (JSON.stringify(Object.entries(print).sort()) !== JSON.stringify(Object.entries(wanted).sort()))
        expect(print).toEqual(wanted);
    }
    expect(i).toBe(records.length);
  });

  test('BAC of 2013-10-10: 0.375 of the volume is off exchange, before eligibility rules', async () => {
    const path = sharedData('stocks_trades/BAC/2013-10-10.csv.gz');
    const { records } = await allOf((onBadLine) => readStockTrades(path, { ...reading, onBadLine }));
    const volume = (prints: typeof records) => prints.reduce((sum, print) => sum + print.size, 0);
    expect(volume(records.filter((print) => print.exchange === 4)) / volume(records)).toBeCloseTo(0.375, 3);
    expect(records).toHaveLength(gunzipSync(readFileSync(path)).toString('latin1').trimEnd().split('\n').length - 1);
  });
});
