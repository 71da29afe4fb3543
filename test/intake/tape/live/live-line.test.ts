import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createContractBook } from '../../../../src/core/domain/chain/contract-book.ts';
import { instantBounds } from '../../../../src/core/domain/instant-gate.ts';
import { tradeNumber } from '../../../../src/core/domain/market/print.ts';
import { type LiveRecord, readLiveLine } from '../../../../src/intake/tape/live/live-line.ts';
import { wideBounds } from '../../../support/tapes/tape-lines.ts';

const doc = readFileSync('docs/live-tape.md', 'utf8');
const schema = JSON.parse(readFileSync('docs/live-tape.schema.json', 'utf8')) as {
  $defs: Record<string, { properties?: object }>;
};
const fits = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
const examples = [...doc.matchAll(/```json\n([\s\S]*?)```/g)].flatMap((block) => block[1]!.trim().split('\n'));
const book = createContractBook();
const read = (value: unknown) =>
  readLiveLine(typeof value === 'string' ? value : JSON.stringify(value), book, wideBounds);
const example = (type: LiveRecord['type'], change: object = {}) => ({
  ...(JSON.parse(examples.find((line) => line.includes(`"type":"${type}"`))!) as Record<string, unknown>),
  ...change,
});

describe('docs/live-tape.md', () => {
  it('has an example of every type, and each fits the schema and is read', () => {
    const types = new Set(examples.map((line) => (JSON.parse(line) as { type: string }).type));
    expect([...types].sort()).toEqual(['chain', 'index_value', 'option_print', 'option_quote', 'stock_print', 'time']);
    for (const line of examples) {
      expect(fits.safeParse(JSON.parse(line)).error, line).toBeUndefined();
      expect(read(line), line).toBeTypeOf('object');
    }
  });

  it('names every key of the schema', () => {
    for (const { properties = {} } of Object.values(schema.$defs))
      for (const key of Object.keys(properties)) expect(doc).toMatch(new RegExp(`[\`"]${key}[\`":]`));
  });
});

describe('a line of the live tape', () => {
  it('is a stock print with its nanoseconds, parts of a share and place of report', () => {
    const common = { conditions: [], correction: 0, trf: 0, tape: 0, sizeMicros: 0 };
    expect(examples.slice(0, 2).map(read)).toEqual([
      {
        type: 'stock_print',
        print: {
          ...common,
          symbol: 'BAC',
          exchange: 4,
          trf: 202,
          id: 71675,
          price: 140_550,
          size: 100,
          conditions: [12, 37],
          tsMs: 1381410000123,
          tsNanos: 456789,
          sequence: 8801,
          tape: 1,
        },
      },
      {
        type: 'stock_print',
        print: {
          ...common,
          symbol: 'BRK.B',
          exchange: 10,
          id: tradeNumber('52983525029461'),
          price: 4_152_501,
          size: 0,
          sizeMicros: 250_000,
          tsMs: 1710509400123,
          tsNanos: 456789,
          sequence: 8802,
        },
      },
    ]);
  });

  it('is an option print or quote of the book’s contract', () => {
    const contract = book.find('O:SPY240419C00520000');
    const print = { contract, exchange: 302, price: 12_500, size: 400, conditions: [209], correction: 0 };
    expect(read(example('option_print'))).toEqual({
      type: 'option_print',
      print: { ...print, tsMs: 1710511200000, tsNanos: 0, sequence: 41 },
    });
    const quote = { contract, bid: 12_000, ask: 12_500, tsMs: 1710511199900, tsNanos: 0, sequence: 907 };
    expect(read(example('option_quote'))).toEqual({ type: 'option_quote', quote });
  });

  it('is a chain whose unknown numbers are null and whose zeros are zeros', () => {
    const given = example('chain');
    const rows = given.rows as object[];
    const record = read({ ...given, rows: [{ ...rows[1], bid: 0, delta: 0 }, rows[0]] });
    if (typeof record === 'string' || record.type !== 'chain') throw new Error(String(record));
    expect(record.chain).toMatchObject({ underlying: 'SPY', sessionDate: '2024-03-15', spot: 511.72, partial: false });
    expect(record.chain.rows.map(({ right, bid, delta, volume }) => ({ right, bid, delta, volume }))).toEqual([
      { right: 'call', bid: 3.9, delta: 0.33, volume: 4021 },
      { right: 'put', bid: 0, delta: 0, volume: null },
    ]);
    expect(record.chain.rows[0]).toMatchObject({ sharesPerContract: 100, theta: null, fmv: null });
  });

  it.each([
    [{}, 0],
    [{ delay_ms: null }, 0],
    [{ delay_ms: 900_000 }, 900_000],
  ])('is a chain with the delay of %j', (given, delayMs) => {
    const record = read(example('chain', given));
    if (typeof record === 'string' || record.type !== 'chain') throw new Error(String(record));
    expect(record.chain.delayMs).toBe(delayMs);
  });

  it('is a chain whose numbers outside their domain are unknown', () => {
    const [row] = example('chain').rows as object[];
    const odd = { bid: -1, last: -0.01, iv: 0, delta: 1.2, gamma: -0.01, vega: -1, open_interest: 1.5, volume: -1 };
    const record = read(example('chain', { spot: -1, prior_close_spot: 0, rows: [{ ...row, ...odd }] }));
    if (typeof record === 'string' || record.type !== 'chain') throw new Error(String(record));
    expect(record.chain).toMatchObject({ spot: null, priorCloseSpot: null });
    const unknown = { bid: null, last: null, iv: null, delta: null, gamma: null, vega: null };
    expect(record.chain.rows[0]).toMatchObject({ ...unknown, openInterest: null, volume: null, ask: 3.92 });
  });

  it('is the value of an index', () => {
    expect(read(example('index_value'))).toEqual({
      type: 'index_value',
      value: { symbol: 'SPX', value: 51_234_100, tsMs: 1710511200000, tsNanos: 0 },
    });
  });

  it('is an instant', () => {
    expect(read(example('time'))).toEqual({ type: 'time', tsMs: 1710511205000 });
  });

  it('may have keys that nobody knows, and null where a key may be absent', () => {
    expect(read(example('option_print', { comment: 'x', conditions: null, correction: null }))).toMatchObject({
      print: { conditions: [], correction: 0 },
    });
  });

  it.each<[unknown, string]>([
    ['', 'not a JSON object'],
    ['{"type":"time"', 'not a JSON object'],
    ['null', 'line: expected an object, got null'],
    ['[]', 'line: expected an object, got []'],
    [{}, 'type: expected stock_print, option_print, option_quote, index_value, chain or time, got nothing'],
    [
      { type: 'trade' },
      'type: expected stock_print, option_print, option_quote, index_value, chain or time, got "trade"',
    ],
    [example('stock_print', { symbol: 'spy' }), 'symbol: expected a ticker such as SPY or BRK.B, got "spy"'],
    [example('stock_print', { price: 0 }), 'price: expected a price above 0, got 0'],
    [example('stock_print', { price: '14.05' }), 'price: expected a number from 0 to 1000000000, got "14.05"'],
    [example('stock_print', { id: 5 }), 'id: expected a trade id as a string, got 5'],
    [example('stock_print', { size: -1 }), 'size: expected a number from 0 to 9000000000, got -1'],
    [example('stock_print', { conditions: ['12'] }), 'conditions: expected a list of condition ids, got ["12"]'],
    [
      example('stock_print', { sip_timestamp: 1381410000123456800 }),
      'sip_timestamp: expected nanoseconds since 1970 as a string of digits, got 1381410000123456800',
    ],
    [
      example('option_print', { contract: 'SPY240419C00520000' }),
      'contract: expected O: and an OSI symbol, got "SPY240419C00520000"',
    ],
    [
      example('option_print', { contract: 'O:SPY240431C00520000' }),
      'contract: expected O: and an OSI symbol, got "O:SPY240431C00520000"',
    ],
    [example('option_print', { size: 1.5 }), 'size: expected a whole number from 0 to 2147483647, got 1.5'],
    [example('option_print', { size: 0 }), 'size: expected a number of contracts from 1, got 0'],
    [example('option_print', { price: 429_497 }), 'price: expected a number from 0 to 429496, got 429497'],
    [example('option_quote', { ask_price: null }), 'ask_price: expected a number from 0 to 429496, got null'],
    [
      example('option_quote', { sequence_number: undefined }),
      'sequence_number: expected a whole number from 0, got nothing',
    ],
    ...(['option_print', 'option_quote'] as const).map((type): [unknown, string] => [
      example(type, { contract: 'O:SPY240419C00520000', sip_timestamp: '1713571200000000000' }),
      'sip_timestamp: expected a time before 2024-04-20T00:00:00.000Z, the end of the contract\'s last session, got "1713571200000000000"',
    ]),
    [example('index_value', { value: 0 }), 'value: expected a value above 0, got 0'],
    [example('chain', { rows: {} }), 'rows: expected a list, got {}'],
    [example('chain', { delay_ms: -1 }), 'delay_ms: expected a whole number from 0 to 86400000, got -1'],
    [example('chain', { delay_ms: 86_400_001 }), 'delay_ms: expected a whole number from 0 to 86400000, got 86400001'],
    [example('chain', { rows: [] }), 'chain: the chain has no contracts'],
    [example('chain', { rows: [5] }), 'rows[0]: expected an object, got 5'],
    [
      example('chain', { rows: [{ contract: 'O:SPY240419C00520000', bid: '3.9' }] }),
      'rows[0].bid: expected a number or null, got "3.9"',
    ],
    [
      example('chain', { rows: [{ contract: 'O:SPY240419C00520000', shares_per_contract: 0 }] }),
      'rows[0].shares_per_contract: expected a whole number from 1, got 0',
    ],
    [example('chain', { underlying: 'QQQ' }), 'underlying: expected SPY as its contracts say, got "QQQ"'],
    [
      example('chain', { rows: [{ contract: 'O:SPY240419C00520000' }, { contract: 'O:SPY240419C00520000' }] }),
      'chain: the chain has the contract SPY240419C00520000 twice',
    ],
  ])('%j is bad, and said why', (line, reason) => {
    expect(read(line)).toBe(reason);
  });

  it('is read exactly when it fits the schema, whatever stands in any one of its keys', () => {
    const texts = ['', 'SPY', 'spy', 'O:SPY240419P00520000', 'O:SPY', '1'.repeat(12), '1'.repeat(13), '1'.repeat(22)];
    const limits = [65_535, 429_496, 1_000_000, 2 ** 31 - 1, 253_402_300_799_999, Number.MAX_SAFE_INTEGER];
    const numbers = [0, -1, 0.5, 0.00004, 0.00005, -1e-9, 1, 1e300, ...limits, ...limits.map((limit) => limit + 1)];
    // undefined: the key is not there.
    const values = [
      undefined,
      null,
      true,
      false,
      [],
      {},
      [1],
      [-1],
      [65_536],
      [0.5],
      ['1'],
      [null],
      ...texts,
      ...numbers,
    ];
    const keysOf = (kind: unknown) => Object.keys(schema.$defs[String(kind)]!.properties!);
    const lines = examples.flatMap((text) => {
      const whole = JSON.parse(text) as Record<string, unknown>;
      const rows = (whole.rows ?? []) as Record<string, unknown>[];
      const inRows = rows
        .slice(0, 1)
        .flatMap((row) =>
          keysOf('chain_row').flatMap((key) => values.map((value) => ({ ...whole, rows: [{ ...row, [key]: value }] }))),
        );
      return [...keysOf(whole.type).flatMap((key) => values.map((value) => ({ ...whole, [key]: value }))), ...inRows];
    });
    let [good, bad] = [0, 0];
    for (const line of lines) {
      // As it travels: what is undefined is gone.
      const value = JSON.parse(JSON.stringify(line)) as unknown;
      const result = read(value);
      const isRead = typeof result === 'object';
      if (isRead !== fits.safeParse(value).success) expect.fail(`${JSON.stringify(value)}: ${JSON.stringify(result)}`);
      if (isRead) good++;
      else bad++;
    }
    expect(Math.min(good, bad)).toBeGreaterThan(500);
  });
});

describe('times of the live tape', () => {
  const nowMs = Date.UTC(2026, 10, 24, 15);
  const at = (value: unknown) => readLiveLine(JSON.stringify(value), book, instantBounds(nowMs));
  const types = ['stock_print', 'option_print', 'option_quote', 'index_value', 'time'] as const;

  it.each(types)('in another unit, before 1990 or an hour ahead make a line bad: %s', (type) => {
    for (const [ms, expected] of [
      [`${nowMs / 1000}`, 'not seconds'],
      [`${nowMs}`, 'not milliseconds'],
      [`${nowMs}000`, 'not microseconds'],
      [`${nowMs + 3_600_001}000000`, 'from 1990 to an hour from now'],
      [`${Date.UTC(1989, 11, 31)}000000`, 'from 1990 to an hour from now'],
    ])
      expect(at(example(type, { sip_timestamp: ms }))).toBe(
        `sip_timestamp: expected nanoseconds since 1970, ${expected}, got "${ms}"`,
      );
    const alive = type.startsWith('option') && { contract: 'O:SPY271217C00520000' };
    expect(at(example(type, { ...alive, sip_timestamp: `${nowMs + 3_600_000}999999` }))).toBeTypeOf('object');
  });

  it('are checked in chains too', () => {
    for (const [value, expected] of [
      [nowMs / 1000, 'not seconds'],
      [nowMs * 1000, 'not microseconds'],
      [nowMs + 3_600_001, 'from 1990 to an hour from now'],
    ] as const)
      expect(at(example('chain', { captured_at_ms: value }))).toBe(
        `captured_at_ms: expected milliseconds since 1970, ${expected}, got ${value}`,
      );
  });
});
