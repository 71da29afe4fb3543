import { describe, expect, test } from 'vitest';
import { openInterestList } from '../../../../src/intake/tape/chains/open-interest.ts';
import { readCsv } from '../../../../src/intake/tape/csv/csv.ts';
import { readChain } from '../../../support/tapes/chain-reading.ts';
import { vendorReading } from '../../../support/tapes/vendor-reading.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

// Headers as the terminals of version 3 and 2 write them; values are invented.
const read = vendorReading(temporaryFolder());
const contract = '"SPXW","2024-03-15",5100.000,"PUT"';
const contractV2 = 'SPXW,20240315,5100000,P';
const id = 'O:SPXW240315P05100000';
const csv = (header: string, ...lines: string[]) => `${[header, ...lines].join('\r\n')}\r\n`;
const trade = 'sequence,ext_condition1,ext_condition2,ext_condition3,ext_condition4,condition,size,exchange,price';
const tradeV3 = `symbol,expiration,strike,right,timestamp,${trade}`;
const flags = 'condition_flags,price_flags,volume_type,records_back';
const tradeV2 = `ms_of_day,${trade},${flags},date`;
const quote = 'bid_size,bid_exchange,bid,bid_condition,ask_size,ask_exchange,ask,ask_condition';
// 10:00:00.123 in New York on 15 March 2024, which is summer time.
const [at, ofDay] = ['2024-03-15T10:00:00.123', 36_000_123];
const tsMs = Date.parse('2024-03-15T14:00:00.123Z');

describe('prints of ThetaData', () => {
  test.each([
    ['version 3', csv(tradeV3, `${contract},${at},-7,255,255,255,255,125,3,5,8.10`)],
    [
      'version 2',
      csv(
        `root,expiration,strike,right,${tradeV2}`,
        `${contractV2},${ofDay},-7,255,255,255,255,125,3,5,8.10,0,1,0,0,20240315`,
      ),
    ],
    [
      'version 2 as JSON',
      JSON.stringify({
        header: { latency_ms: 3, format: tradeV2.split(','), error_type: null, next_page: 'null' },
        response: [
          {
            ticks: [[ofDay, -7, 255, 255, 255, 255, 125, 3, 5, 8.1, 0, 1, 0, 0, 20240315]],
            contract: { root: 'SPXW', expiration: 20240315, strike: 5100000, right: 'P' },
          },
        ],
      }),
    ],
  ])('in %s are those of the contract, with OPRA’s ids of condition and exchange', async (_, text) => {
    const { records, bad } = await read.optionTrades(read.write('trades', text));
    expect(bad).toEqual([]);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ tsMs, tsNanos: 0, price: 81_000, size: 3, exchange: 302, conditions: [227] });
    expect(records[0]!.contract.id).toBe(id);
  });

  test('have a condition for each of OPRA’s, and none for one without a meaning for contracts', async () => {
    const [codes, ids] = [
      [18, 95, 40, 41, 42, 43, 128, 130, 137, 144, 147, 148, 0],
      [209, 219, 201, 203, 205, 207, 230, 232, 239, 246, 247, 248, ''],
    ];
    const lines = [...codes, 77].map((code) => `${contract},${at},1,255,255,255,255,${code},1,73,8.1`);
    const { records, bad } = await read.optionTrades(read.write('codes.csv', csv(tradeV3, ...lines)));
    expect(records.map(({ conditions }) => conditions.join())).toEqual(ids.map(String));
    // An exchange that the vendor's list does not name stays another than the others.
    expect(new Set(records.map(({ exchange }) => exchange))).toEqual(new Set([1073]));
    expect(bad).toEqual(['15: conditions: expected condition ids, got "condition 77"']);
  });

  test('with strikes or times in the unit of the other version are bad lines', async () => {
    const lines = [
      `"SPXW","2024-03-15",5100000,"PUT",${at},1,255,255,255,255,18,1,5,8.1`,
      `${contract},36000123,1,255,255,255,255,18,1,5,8.1`,
      `${contract},2024-02-30T10:00:00,1,255,255,255,255,18,1,5,8.1`,
    ];
    const { records, bad } = await read.optionTrades(read.write('units.csv', csv(tradeV3, ...lines)));
    expect(records).toEqual([]);
    expect(bad.map((reason) => reason.split(': expected')[0])).toEqual([
      '2: ticker',
      '3: sip_timestamp',
      '4: sip_timestamp',
    ]);
    const past = csv(
      `root,expiration,strike,right,${tradeV2}`,
      `${contractV2},86400000,1,1,1,1,1,18,1,5,8,0,0,0,0,20240315`,
    );
    expect((await read.optionTrades(read.write('past.csv', past))).bad[0]).toMatch(/^2: sip_timestamp: expected nano/);
  });

  test('in JSON that say that there are more, or have other columns, are rejected', async () => {
    const page = (header: object, response: unknown = []) =>
      read.optionTrades(
        read.write(
          `SPXW240315P05100000.json`,
          JSON.stringify({ header: { format: tradeV2.split(','), ...header }, response }),
        ),
      );
    await expect(page({ next_page: 'http://127.0.0.1/next' })).rejects.toThrow(/header.next_page: there are more/);
    await expect(page({ error_type: 'NO_DATA' })).rejects.toThrow(/header.error_type/);
    await expect(page({ format: null })).rejects.toThrow(/header.format/);
    await expect(page({}, [7])).rejects.toThrow(/response: expected ticks/);
    const one = [[ofDay, -7, 255, 255, 255, 255, 18, 3, 5, 8.1, 0, 1, 0, 0, 20240315]];
    expect((await page({ next_page: null }, one)).records[0]!.contract.id).toBe(id);
  });
});

test('quotes are those of the contract; samples of them are rejected', async () => {
  const header = `symbol,expiration,strike,right,timestamp,${quote}`;
  const line = (time: string) => `${contract},2024-03-15T10:00:${time},4,5,8.00,50,6,7,8.20,50`;
  const ticks = Array.from({ length: 12 }, (_, i) => line(`${10 + i}.${i === 0 ? '001' : '000'}`));
  const { records } = await read.optionQuotes(read.write('quotes.csv', csv(header, ...ticks)));
  expect(records[0]).toMatchObject({ bid: 80_000, ask: 82_000, tsMs: Date.parse('2024-03-15T14:00:10.001Z') });
  expect(records.map(({ sequence }) => sequence)).toEqual(ticks.map((_, i) => i + 1));
  const samples = csv(header, ...Array.from({ length: 12 }, (_, i) => line(String(10 + i))));
  await expect(read.optionQuotes(read.write('samples.csv', samples))).rejects.toThrow(
    /all 12 quotes are of whole seconds/,
  );
});

test('bars omit minutes without a trade, and are rejected if they are longer than a minute', async () => {
  const header = 'symbol,expiration,strike,right,timestamp,open,high,low,close,volume,count,vwap';
  const line = (time: string, count = 2) => `${contract},2024-03-15T${time}:00,8,9,7,8.5,10,${count},8.2`;
  const text = csv(header, line('10:00'), line('10:01', 0), line('10:02'));
  const { records, bad } = await read.optionBars(read.write('bars.csv', text));
  expect(bad).toEqual([]);
  expect(records.map(({ bar }) => bar)).toEqual([
    {
      tsMs: Date.parse('2024-03-15T14:00Z'),
      open: 8,
      high: 9,
      low: 7,
      close: 8.5,
      volume: 10,
      vwap: null,
      tradeCount: 2,
    },
    expect.objectContaining({ tsMs: Date.parse('2024-03-15T14:02Z') }),
  ]);
  const hours = csv(
    header,
    ...Array.from({ length: 10 }, (_, i) => line(`1${Math.floor(i / 2)}:${i % 2 ? '30' : '00'}`)),
  );
  await expect(read.optionBars(read.write('hours.csv', hours))).rejects.toThrow(/multiples of five minutes/);
});

test('open interest is of the session of its time', async () => {
  const text = csv('symbol,expiration,strike,right,timestamp,open_interest', `${contract},2024-03-15T06:30:00,18250`);
  const v2 = csv('root,expiration,strike,right,ms_of_day,open_interest,date', `${contractV2},23400000,18250,20240315`);
  for (const file of [read.write('oi.csv', text), read.write('oi-v2.csv', v2)])
    for await (const { records } of readCsv(file, [openInterestList], () => {}))
      expect(records).toEqual([
        {
          root: 'SPXW',
          expiry: '2024-03-15',
          right: 'put',
          strike: 5_100_000,
          openInterest: 18250,
          sessionDate: '2024-03-15',
        },
      ]);
});

test('greeks at one time are a chain with the price of its underlying', async () => {
  const greeks =
    'bid,ask,delta,theta,vega,rho,epsilon,lambda,gamma,implied_vol,iv_error,underlying_timestamp,underlying_price';
  const line = (right: string, iv: number) =>
    `SPXW,2024-03-15,5100.000,${right},2024-03-15T09:59:59.9,8.0,8.2,-0.4,-900,120,1,1,1,0.004,${iv},0.0,${at},5123.41`;
  const text = csv(`symbol,expiration,strike,right,timestamp,${greeks}`, line('PUT', 0.11), line('CALL', 0));
  const { capture } = await readChain(read.write('chain.csv', text), () => {});
  expect(capture).toMatchObject({ underlying: 'SPX', capturedAt: tsMs, spot: 5123.41, partial: false });
  expect(
    capture.rows.map(({ right, iv, delta, gamma, theta, vega, openInterest }) => [
      right,
      iv,
      delta,
      gamma,
      theta,
      vega,
      openInterest,
    ]),
  ).toEqual([
    ['call', null, -0.4, 0.004, null, null, null],
    ['put', 0.11, -0.4, 0.004, null, null, null],
  ]);
});
