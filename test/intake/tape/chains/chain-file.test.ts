import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import type { BadLine } from '../../../../src/intake/tape/csv/tape-file.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { readChain } from '../../../support/tapes/chain-reading.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const noBadLine = (bad: BadLine) => {
  throw new Error(`${bad.line}: ${bad.reason}`);
};
const folder = temporaryFolder();

// Content of the files' first lines, and the number of contracts by a plain count of their lines.
const realChains = [
  ['ndx_20221212.csv.gz', 'NDX', '2022-12-12', 20 * 60 + 31, '2022-12-12', 11706.4395, 11563.3, 19118],
  ['rut_20221212.csv.gz', 'RUT', '2022-12-12', 20 * 60 + 30, '2022-12-12', 1817.4937, 1797.61, 7334],
  ['spx_20221212.csv.gz', 'SPX', '2022-12-12', 20 * 60 + 30, '2022-12-12', 3990.5601, 3934.38, 19156],
  ['spx_20240107.csv.gz', 'SPX', '2024-01-07', 10 * 60 + 52, '2024-01-05', 4697.2402, 4688.68, 21038],
  ['spy_20250501T1649.csv.gz', 'SPY', '2025-05-01', 16 * 60 + 49, '2025-05-01', 557.65, 553.72, 4876],
  ['spy_20250903T0924.csv.gz', 'SPY', '2025-09-03', 9 * 60 + 24, '2025-09-03', 642.65, 640.295, 8504],
] as const;

describe.skipIf(!hasSharedData)('real delayed-quote chains', () => {
  test.each(realChains)('%s is read whole', async (file, underlying, date, minute, session, spot, prior, rows) => {
    const { capture, halfLines } = await readChain(sharedData(`chains_cboe/${file}`), noBadLine);
    expect(capture).toMatchObject({ underlying, sessionDate: session, spot, priorCloseSpot: prior, partial: false });
    expect(capture.capturedAt).toBe(exchangeInstant(date, minute));
    expect(capture.rows).toHaveLength(rows);
    expect(halfLines).toEqual([]);
  });

  const json = 'chains_cboe/rut_20230921_delayed_quotes.json.gz';

  test('the JSON of 2023-09-20 is read whole: its stamp is UTC, late that evening in New York', async () => {
    const { capture } = await readChain(sharedData(json), noBadLine);
    expect(capture).toMatchObject({ underlying: 'RUT', sessionDate: '2023-09-20', spot: 1806.1193, partial: false });
    expect(capture.priorCloseSpot).toBe(1827);
    expect(capture.capturedAt).toBe(Date.parse('2023-09-21T03:17:42Z'));
    expect(capture.rows).toHaveLength(6680);
    const contract = { root: 'RUT', expiry: '2023-10-20', right: 'put', strike: 1_690_000 };
    const numbers = { bid: 6.3, ask: 6.5, last: 6.13, fmv: 6.0015, openInterest: 6203, volume: 444 };
    const greeks = { iv: 0.2118, delta: -0.1122, gamma: 0.0017, theta: -0.3454, vega: 1.0093 };
    expect(capture.rows).toContainEqual({ ...contract, ...numbers, ...greeks, sharesPerContract: 100 });
  });

  test('the vendor gammas of spx_20240107 total −11.00 Bn per 1%', async () => {
    const { capture } = await readChain(sharedData('chains_cboe/spx_20240107.csv.gz'), noBadLine);
    const spot = capture.spot!;
    const perOnePercent = capture.rows.reduce((sum, row) => {
      const sign = row.right === 'call' ? 1 : -1;
      return sum + sign * (row.gamma ?? 0) * (row.openInterest ?? 0) * 100 * spot * spot * 0.01;
    }, 0);
    expect(perOnePercent / 1e9).toBeCloseTo(-11.0, 2);
  });

  test('a chain cut short, in its compression or its text, is refused', async () => {
    const path = join(folder(), 'cut.json.gz');
    const whole = readFileSync(sharedData(json));
    writeFileSync(path, whole.subarray(0, whole.length / 2));
    await expect(readChain(path, noBadLine)).rejects.toThrow('cut.json.gz: the gzip data is truncated');
    writeFileSync(path, gzipSync(gunzipSync(whole).subarray(0, 5000)));
    await expect(readChain(path, noBadLine)).rejects.toThrow('cut.json.gz: not complete JSON');
  });
});

const title = 'Nasdaq 100,Last: 100.5,Change: -0.25';
const dateLine = '"Date: March 8, 2024 at 3:45 PM EST",Bid: 1,Ask: 2,Size: 1*1,"Volume: 1,000"';
const side = 'Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';
const header = `Expiration Date,Calls,${side},Strike,Puts,${side}`;
const call = (strike: string, numbers = '1.5,0,1.4,1.6,10,0.2,0.5,0.01,100') => `NDXP240315C00${strike}000,${numbers}`;
const put = (strike: string, numbers = '1.2,0,1.1,1.3,20,0.21,-0.5,0.01,200') => `NDXP240315P00${strike}000,${numbers}`;
const line = (strike: string) => `Fri Mar 15 2024,${call(strike)},${strike}.00,${put(strike)}`;

async function read(lines: string[]) {
  const path = join(folder(), 'chain.csv');
  writeFileSync(path, `${lines.join('\r\n')}\r\n`);
  const bad: BadLine[] = [];
  return { ...(await readChain(path, (one) => bad.push(one))), bad };
}

describe('delayed-quote tables', () => {
  test('name their underlying by the roots, whatever the title says', async () => {
    const { capture, bad } = await read(['', title, dateLine, header, line('101'), line('100')]);
    expect(bad).toEqual([]);
    expect(capture).toMatchObject({ underlying: 'NDX', spot: 100.5, priorCloseSpot: 100.75 });
    expect(capture.capturedAt).toBe(exchangeInstant('2024-03-08', 15 * 60 + 45));
    expect(capture.rows.map((row) => [row.root, row.expiry, row.right, row.strike])).toEqual([
      ['NDXP', '2024-03-15', 'call', 100_000],
      ['NDXP', '2024-03-15', 'put', 100_000],
      ['NDXP', '2024-03-15', 'call', 101_000],
      ['NDXP', '2024-03-15', 'put', 101_000],
    ]);
  });

  test('write 0 for what they do not know: prices never traded, no offer, no IV', async () => {
    const quiet = `x,${call('100', '0,0,0,0,0,0,0,0,7')},100.00,${put('100', '0,0,0,0.05,0,0.9,-0.01,0,0')}`;
    const { capture } = await read([title, dateLine, header, quiet]);
    const unknown = { last: null, bid: null, ask: null, iv: null, delta: null, gamma: null };
    expect(capture.rows[0]).toMatchObject({ ...unknown, volume: 0, openInterest: 7 });
    const zeros = { last: null, bid: 0, ask: 0.05, iv: 0.9, delta: -0.01, gamma: 0, openInterest: 0 };
    expect(capture.rows[1]).toMatchObject(zeros);
  });

  test('do not know the shares of a contract whose deliverable was adjusted', async () => {
    const adjusted = line('100').replaceAll('NDXP', 'NDX1');
    const { capture } = await read([title, dateLine, header, adjusted, line('101').replaceAll('NDXP', 'NDX')]);
    expect(capture.rows.map(({ root, sharesPerContract }) => [root, sharesPerContract])).toEqual([
      ['NDX1', null],
      ['NDX1', null],
      ['NDX', 100],
      ['NDX', 100],
    ]);
  });

  test('with numbers outside their domain leave them unknown', async () => {
    const odd = `x,${call('100', '-1,0,-0.5,1.6,10,12.5,1.198,-0.01,100')},100.00,${put('100', '1.2,0,1.1,1e7,20,-1,-1,-1,200')}`;
    const { capture, bad, halfLines } = await read([title, dateLine, header, odd]);
    expect([...bad, ...halfLines]).toEqual([]);
    const [first, second] = capture.rows;
    expect(first).toMatchObject({ last: null, bid: null, ask: 1.6, iv: null, delta: null, gamma: null });
    // A put's delta can be −1, but here −1 stands for nothing: the volatility and gamma beside it cannot.
    expect(second).toMatchObject({ last: 1.2, bid: 1.1, ask: null, iv: null, delta: null, gamma: null });
  });

  test('with open interest or volume that is no count leave it unknown', async () => {
    const odd = `x,${call('100', '1.5,0,1.4,1.6,-1,0.2,0.5,0.01,1e12')},100.00,${put('100', '1.2,0,1.1,1.3,1e12,0.21,-0.5,0.01,0.5')}`;
    const { capture, bad } = await read([title, dateLine, header, odd]);
    expect(bad).toEqual([]);
    for (const row of capture.rows) expect(row).toMatchObject({ volume: null, openInterest: null });
  });

  test('with half-broken lines keep the usable right, are partial and say which lines', async () => {
    const cutPut = `Fri Mar 15 2024,${call('101')},101.00,NDXP240315P00101000,1.2,0,1.1`;
    const wrongCall = `Fri Mar 15 2024,${call('102', '1.5,0,abc,1.6,10,0.2,0.5,0.01,100')},102.00,${put('102')}`;
    const noPut = `Fri Mar 15 2024,${call('103')},103.00,,,,,,,,,,`;
    const { capture, halfLines, bad } = await read([title, dateLine, header, line('100'), cutPut, wrongCall, noPut]);
    expect(bad).toEqual([]);
    expect(capture.partial).toBe(true);
    const kept = capture.rows.map((row) => `${row.right} ${row.strike / 1000}`);
    expect(kept).toEqual(['call 100', 'put 100', 'call 101', 'put 102', 'call 103']);
    expect(halfLines.map((half) => [half.line, half.reason])).toEqual([
      [5, 'put: the line ends before ask'],
      [6, 'call: bid: expected a number, got "abc"'],
    ]);
  });

  test('with a line of no use tell it as bad, with its number', async () => {
    const cut = 'Fri Mar 15 2024,NDXP240315C0010';
    const { capture, bad } = await read([title, dateLine, header, line('100'), cut, line('102')]);
    expect(capture.partial).toBe(true);
    expect(capture.rows).toHaveLength(4);
    expect(bad).toMatchObject([{ line: 5, reason: expect.stringContaining('strike: expected a price') }]);
  });

  test.each([
    ['without quotes', 'X,Last: 6,515.94,Change: +13.86', 'Date: 9 June 2023, 1:40 PM EDT,Bid: 1', 6515.94, 6502.08],
    ['with quotes', 'X,"Last: 6,515.94","Change: -1,000.06"', '"Date: 9 June 2023, 1:40 PM EDT"', 6515.94, 7516],
    ['in one cell', '"X Last: 100.5 Change: \u22120.5"', 'Date: 9 June 2023, 1:40 PM EDT,,,', 100.5, 101],
    ['before blank cells', 'X,Last: 100.5,Change: n/a,,,', 'Bid: 1,Date: 9 June 2023, 1:40 PM EDT', 100.5, null],
  ])('read a value above them to the next key: %s', async (_, titleLine, date, spot, priorCloseSpot) => {
    const { capture } = await read([titleLine, date, header, line('100')]);
    expect(capture).toMatchObject({ spot, priorCloseSpot, capturedAt: Date.parse('2023-06-09T17:40:00Z') });
  });

  test('read numbers with a plus, and with commas between thousands', async () => {
    const numbers = '"1,234.5",+2.5,1.4,"1,600","1,000",0.2,+0.5,3e-05,"1,234,567"';
    const { capture, bad } = await read([title, dateLine, header, `x,${call('100', numbers)},100.00,${put('100')}`]);
    expect(bad).toEqual([]);
    const row = { last: 1234.5, ask: 1600, volume: 1000, delta: 0.5, gamma: 3e-5, openInterest: 1_234_567 };
    expect(capture.rows[0]).toMatchObject(row);
  });

  test.each(['6,10', '1,23,456', '0,515', '1,2345', ',5', '1.234,5', '++1', '1 000', '0x10'])(
    'do not guess what %s is',
    async (text) => {
      const odd = `x,${call('100', `"${text}",0,1.4,1.6,10,0.2,0.5,0.01,100`)},100.00,${put('100')}`;
      const { halfLines } = await read([title, dateLine, header, odd]);
      expect(halfLines).toMatchObject([{ reason: `call: last: expected a number, got ${JSON.stringify(text)}` }]);
      const above = read([`X,"Last: ${text}"`, dateLine, header, line('100')]);
      await expect(above).rejects.toThrow(`Last: expected a number, got ${JSON.stringify(text)}`);
    },
  );

  test('do not shift cells where a number has a comma and no quotes', async () => {
    const shifted = `x,${call('100', '1,234.5,0,1.4,1.6,10,0.2,0.5,0.01,100')},100.00,${put('100')}`;
    const { bad } = await read([title, dateLine, header, line('101'), shifted]);
    expect(bad).toMatchObject([{ line: 5, reason: expect.stringContaining('expected 22 columns, found 23') }]);
  });

  test.each([
    ['without a table', [title, dateLine], 'no delayed-quote table'],
    ['without a date', [title, header, line('100')], 'no Date: line'],
    [
      'with a date in an unknown zone',
      [title, 'Date: 8 March 2024 at 3:45 PM XYZ', header, line('100')],
      'Date: expected a date and time, got "8 March 2024 at 3:45 PM XYZ": "XYZ" is not a known word of dates',
    ],
    ['without a contract', [title, dateLine, header], 'the chain has no contracts'],
    ['of two underlyings', [title, dateLine, header, line('100'), line('101').replaceAll('NDXP', 'SPXW')], 'NDX, SPX'],
    ['with a contract twice', [title, dateLine, header, line('100'), line('100')], 'twice'],
  ])('%s are refused', async (_, lines, reason) => {
    await expect(read(lines)).rejects.toThrow(reason);
  });
});

describe('delayed-quote JSON', () => {
  const option = { option: 'SPXW240308C05100000', bid: 1, ask: 1.2, iv: 0.1, delta: 0.5, gamma: 0.01 };
  const write = (timestamp: string, lastTrade: string, others: unknown[] = []) => {
    const path = join(folder(), 'chain.json');
    const options = [{ ...option, last_trade_time: lastTrade }, ...others];
    const data = { symbol: '^SPX', current_price: 5100, price_change: 10, options };
    writeFileSync(path, JSON.stringify({ timestamp, symbol: '_SPX', data }));
    return path;
  };

  test('is stamped in UTC, unless that would be before its newest trade', async () => {
    const utc = await readChain(write('2024-03-08 19:30:00', '2024-03-08T14:14:59'), noBadLine);
    expect(utc.capture.capturedAt).toBe(Date.parse('2024-03-08T19:30:00Z'));
    const local = await readChain(write('2024-03-08 14:30:00', '2024-03-08T14:14:59'), noBadLine);
    expect(local.capture.capturedAt).toBe(Date.parse('2024-03-08T14:30:00-05:00'));
  });

  test.each([
    ['2024-03-08T14:30:00-05:00', '2024-03-08T19:30:00Z'],
    ['2024-03-08 20:30:00.250+0100', '2024-03-08T19:30:00.250Z'],
    ['2024-03-08T19:30:00Z', '2024-03-08T19:30:00Z'],
    ['2024-03-08T14:00:00Z', '2024-03-08T14:00:00Z'],
  ])('stamped %s is of that instant, whatever its trades say', async (stamp, instant) => {
    const { capture } = await readChain(write(stamp, '2024-03-08T14:14:59'), noBadLine);
    expect(capture.capturedAt).toBe(Date.parse(instant));
  });

  test('takes the offset of a trade into account', async () => {
    const { capture } = await readChain(write('2024-03-08 14:30:00', '2024-03-08T14:14:59+00:00'), noBadLine);
    expect(capture.capturedAt).toBe(Date.parse('2024-03-08T14:30:00Z'));
  });

  test.each(['2024-03-08 14:30:00 EST', '2024-03-08 14:30:00-05', '2024-02-31 14:30:00', '2024-03-08 24:30:00'])(
    'stamped %s is refused',
    async (stamp) => {
      const reason = `timestamp: expected YYYY-MM-DD HH:MM:SS, perhaps with an offset, got "${stamp}"`;
      await expect(readChain(write(stamp, '2024-03-08T14:14:59'), noBadLine)).rejects.toThrow(reason);
    },
  );

  test('reads numbers in quotes, and reports those that are none', async () => {
    const quoted = { option: 'SPXW240308C05200000', bid: '1,000.5', ask: '1001', iv: '0.2', delta: 'n/a', gamma: null };
    const odd = { option: 'SPXW240308C05300000', bid: '6,10' };
    const bad: BadLine[] = [];
    const path = write('2024-03-08 19:30:00', '2024-03-08T14:14:59', [quoted, odd]);
    const { capture } = await readChain(path, (one) => bad.push(one));
    expect(capture.rows[1]).toMatchObject({ bid: 1000.5, ask: 1001, iv: 0.2, delta: null, gamma: null });
    expect(bad).toMatchObject([{ line: 3, reason: 'bid: expected a number, got "6,10"' }]);
  });

  test('leaves numbers outside their domain unknown, and what stands for nothing', async () => {
    const greeks = { iv: -999, delta: -999, gamma: -999, theta: -999, vega: -999 };
    const odd = { option: 'SPXW240308P05200000', bid: -1, ask: -1, last_trade_price: -1, theo: -1, ...greeks };
    const sold = { option: 'SPXW240308P05300000', iv: 0.2, delta: -1, gamma: 0, theta: -0.1, vega: -0.01 };
    const path = write('2024-03-08 19:30:00', '2024-03-08T14:14:59', [odd, sold]);
    const { capture } = await readChain(path, noBadLine);
    const unknown = { bid: null, ask: null, last: null, fmv: null };
    const noGreeks = { iv: null, delta: null, gamma: null, theta: null, vega: null };
    expect(capture.rows[1]).toMatchObject({ ...unknown, ...noGreeks });
    expect(capture.rows[2]).toMatchObject({ iv: 0.2, delta: -1, gamma: 0, theta: -0.1, vega: null });
  });

  test.each([
    ['"5,100.25"', 5100.25],
    ['5100.25', 5100.25],
    ['null', null],
  ])('reads the spot %s', async (written, spot) => {
    const path = write('2024-03-08 19:30:00', '2024-03-08T14:14:59');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"current_price":5100', `"current_price":${written}`));
    expect((await readChain(path, noBadLine)).capture.spot).toBe(spot);
  });

  test('with a spot that is no number is refused', async () => {
    const path = write('2024-03-08 19:30:00', '2024-03-08T14:14:59');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"current_price":5100', '"current_price":"51,00"'));
    await expect(readChain(path, noBadLine)).rejects.toThrow('current_price: expected a number, got "51,00"');
  });

  test('with an option that is not understood tells its place and is partial', async () => {
    const bad: BadLine[] = [];
    const path = write('2024-03-08 19:30:00', '2024-03-08T14:14:59', [{ option: 'rubbish' }]);
    const { capture } = await readChain(path, (one) => bad.push(one));
    expect(capture).toMatchObject({ underlying: 'SPX', partial: true, priorCloseSpot: 5090 });
    expect(bad).toMatchObject([{ line: 2, reason: expect.stringContaining('rubbish') }]);
  });
});
