import { describe, expect, test } from 'vitest';
import { createContractBook } from '../../../../src/core/domain/chain/contract-book.ts';
import { readOptionQuotes } from '../../../../src/intake/tape/prints/option-quotes.ts';
import { type OptionTradeOptions, readOptionTrades } from '../../../../src/intake/tape/prints/option-trades.ts';
import { allOf, vendorFile, wideBounds } from '../../../support/tapes/tape-lines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const header = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
const [spy, qqq] = ['O:SPY240419C00520000', 'O:QQQ240419P00430000'];
const print = (ticker: string, exchange: number, rest = '1.25,1710509400123456789,7') =>
  `${ticker},209,0,${exchange},${rest}`;

const read = (lines: readonly string[], options: Partial<OptionTradeOptions> = {}) =>
  allOf((onBadLine) =>
    readOptionTrades(vendorFile(folder(), 'trades.csv.gz', lines), {
      book: createContractBook(),
      bounds: wideBounds,
      onBadLine,
      ...options,
    }),
  );

describe('an option trades file', () => {
  test('gives prints of contracts, each contract one object', async () => {
    const book = createContractBook();
    const { records, bad } = await read([header, print(spy, 302), print(qqq, 316), print(spy, 316)], { book });
    expect(bad).toEqual([]);
    expect(records[0]).toEqual({
      contract: book.find(spy),
      exchange: 302,
      price: 12_500,
      size: 7,
      conditions: [209],
      correction: 0,
      tsMs: 1710509400123,
      tsNanos: 456789,
      sequence: 1,
    });
    expect(records[2]!.contract).toBe(records[0]!.contract);
    expect(records[1]!.contract).toMatchObject({ id: qqq, underlying: { symbol: 'QQQ' } });
  });

  test('numbers a contract’s good lines, so that no two prints of a contract share a number, and a second reading gives the same', async () => {
    const lines = [
      header,
      print(spy, 302),
      print(qqq, 302),
      print(spy, 302, 'x,1710509400123456789,7'),
      print(spy, 316),
      print(spy, 302),
    ];
    const sequences = ({ records }: Awaited<ReturnType<typeof read>>) =>
      records.map(({ contract, sequence }) => `${contract.underlying.symbol} ${sequence}`);
    const first = sequences(await read(lines));
    expect(first).toEqual(['SPY 1', 'QQQ 1', 'SPY 2', 'SPY 3']);
    expect(sequences(await read(lines))).toEqual(first);
  });

  test('goes on numbering over the files of a session when they share their numbers', async () => {
    const [book, numbers] = [createContractBook(), [] as number[]];
    await read([header, print(spy, 302)], { book, numbers });
    const { records } = await read([header, print(spy, 302)], { book, numbers });
    expect(records.map(({ sequence }) => sequence)).toEqual([2]);
  });

  test('takes a price of 0 (cabinet trades), whole sizes written as decimals, and blank conditions', async () => {
    const { records, bad } = await read([header, `${spy},,,302,0,1710509400123456789,3.0`]);
    expect(bad).toEqual([]);
    expect(records).toEqual([expect.objectContaining({ price: 0, size: 3, conditions: [], correction: 0 })]);
  });

  test.each([
    [print('SPY', 302), 'ticker: expected O: and an OSI symbol, got "SPY"'],
    [print('O:SPY240231C00520000', 302), 'ticker: expected O: and an OSI symbol, got "O:SPY240231C00520000"'],
    [`${spy},209;210,0,302,1,1710509400123456789,7`, 'conditions: expected condition ids, got "209;210"'],
    [print(spy, 302, '-1,1710509400123456789,7'), 'price: expected a price from 0, got "-1"'],
    [print(spy, 302, '500000,1710509400123456789,7'), 'price: expected a price from 0, got "500000"'],
    [print(spy, 302, '1,1710509400123456789,0'), 'size: expected a whole number of contracts from 1, got "0"'],
    [print(spy, 302, '1,1710509400123456789,1.5'), 'size: expected a whole number of contracts from 1, got "1.5"'],
    [print(spy, 70000), 'exchange: expected an exchange id, got "70000"'],
    [
      print(spy, 302, '1,17105094001x3456789,7'),
      'sip_timestamp: expected nanoseconds since 1970, got "17105094001x3456789"',
    ],
    [`${spy},209,a,302,1,1710509400123456789,7`, 'correction: expected a whole number or nothing, got "a"'],
  ])('tells the bad line %s', async (line, reason) => {
    const { records, bad } = await read([header, line, print(spy, 302)]);
    expect(bad).toEqual([`2: ${reason}`]);
    expect(records).toHaveLength(1);
  });
});

describe('an option quotes file', () => {
  const quotes = 'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp';
  const readQuotes = (lines: readonly string[]) =>
    allOf((onBadLine) =>
      readOptionQuotes(vendorFile(folder(), 'quotes.csv.gz', [quotes, ...lines]), {
        book: createContractBook(),
        bounds: wideBounds,
        onBadLine,
      }),
    );

  test('gives the best bid and offer, a side that nobody is on as 0', async () => {
    const { records, bad } = await readQuotes([
      `${spy},302,1.3,10,316,1.25,20,77,1710509400123456789`,
      `${spy},302,0.05,10,,,,78,1710509400123456790`,
    ]);
    expect(bad).toEqual([]);
    expect(records).toEqual([
      expect.objectContaining({ bid: 12_500, ask: 13_000, tsMs: 1710509400123, tsNanos: 456789, sequence: 77 }),
      expect.objectContaining({ bid: 0, ask: 500, tsNanos: 456790, sequence: 78 }),
    ]);
    expect(records[0]!.contract.id).toBe(spy);
  });

  test.each([
    [`SPY,302,1.3,10,316,1.25,20,77,1710509400123456789`, 'ticker: expected O: and an OSI symbol, got "SPY"'],
    [`${spy},302,lots,10,316,1.25,20,77,1710509400123456789`, 'ask_price: expected a price from 0, got "lots"'],
    [`${spy},302,1.3,10,316,-1.25,20,77,1710509400123456789`, 'bid_price: expected a price from 0, got "-1.25"'],
    [`${spy},302,1.3,10,316,1.25,20,,1710509400123456789`, 'sequence_number: expected a whole number, got ""'],
    [
      `${spy},302,1.3,10,316,1.25,20,77,0`,
      'sip_timestamp: expected nanoseconds since 1970, from 1990 to an hour from now, got "0"',
    ],
  ])('tells the bad line %s', async (line, reason) => {
    expect(await readQuotes([line])).toEqual({ records: [], bad: [`2: ${reason}`] });
  });
});
