import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LargeTrade } from '../../../src/core/domain/flow/flow.ts';
import { flowEventKinds, flowSides } from '../../../src/core/domain/flow/flow.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { writeCursor } from '../../../src/resolvers/cursor.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../../support/flow.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const sessions = ['2026-11-19', '2026-11-20'];
const expiries = ['261120', '261218'];

/** Trades of all kinds and sides, several of them at one time; each third has two legs of different contracts. */
const trades: LargeTrade[] = Array.from({ length: 120 }, (_, i) => {
  const session = sessions[i % 2]!;
  // All of them after this time of the day before, where the live feed begins.
  const at = exchangeInstant(session, (i % 2 === 0 ? 730 : 600) + Math.floor(i / 8));
  const contract = (n: number) =>
    `O:SPY${expiries[n % 2]}${n % 4 < 2 ? 'C' : 'P'}00${String(600 + (n % 9)).padStart(3, '0')}000`;
  const price = 1 + (i % 17) / 100;
  const legs = [leg(contract(i), at, { sequence: i, price })];
  if (i % 3 === 0) legs.push(leg(contract(i + 3), at + 1, { sequence: i, price: 0.35 }));
  const change = { eventKind: flowEventKinds[i % 3]!, side: flowSides[i % 4]! };
  return largeTrade(legs, 1000 - i, coverage(session, 719), change);
});

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await testApp({ nowMs });
  session = await app.session();
  const other = largeTrade([leg('O:AAPL261218C00250000', nowMs - 60_000)], 1, coverage('2026-11-20', 719));
  const later = largeTrade([leg('O:SPY261218C00600000', nowMs + 1)], 5000, coverage('2026-11-20', 719));
  await storeLargeTrades(app.store, [...trades, other, later]);
});
afterAll(() => app.close());

const page = 'events { update { event { eventId } } } meta { count limit cursor total { count premiumUsd } }';
const asked = `query(
  $limit: Int, $session: SessionDate, $min: Float, $kind: FlowEventKind, $side: FlowSide, $right: OptionRight,
  $expiry: SessionDate, $cursor: String
) { symbol(symbol: "SPY") { flow { largeTrades(
  limit: $limit, session: $session, minPremiumUsd: $min, kind: $kind, side: $side, right: $right, expiry: $expiry,
  cursor: $cursor
) { ${page} } } } }`;

async function read(variables: Json): Promise<Json> {
  const { data, errors } = await app.graphql(asked, variables, { credential: session });
  expect(errors).toBeUndefined();
  return data.symbol.flow.largeTrades;
}
const idsOf = ({ events }: Json): string[] => events.map(({ update }: Json) => update.event.eventId);

/** The ids of the trades that pass a filter, newest first, as the definition says. */
function expected({ session: of, min, kind, side, right, expiry }: Json): LargeTrade[] {
  return trades
    .filter(
      ({ event, coverage: { sessionDate } }) =>
        (of == null || sessionDate === of) &&
        (min == null || event.premiumUsd >= min) &&
        (kind == null || event.eventKind === kind) &&
        (side == null || event.side === side) &&
        event.legs.some(
          ({ contract }) =>
            (right == null || contract.right === right) && (expiry == null || contract.expiry === expiry),
        ),
    )
    .sort((a, b) => b.event.eventTsMs - a.event.eventTsMs || b.seq - a.seq);
}

const filters = fc.record({
  session: fc.constantFrom(null, ...sessions),
  min: fc.constantFrom(null, 0, 105_000, 140_000),
  kind: fc.constantFrom(null, ...flowEventKinds),
  side: fc.constantFrom(null, ...flowSides),
  right: fc.constantFrom(null, 'call', 'put'),
  expiry: fc.constantFrom(null, '2026-11-20', '2026-12-18', '2027-01-15'),
});

describe('large trades of a symbol', () => {
  test('pass every filter that is given, and their total is of all pages', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 12 }), async (filter, limit) => {
        const all = expected(filter);
        const answer = await read({ ...filter, limit });
        expect(idsOf(answer)).toEqual(all.slice(0, limit).map(({ event }) => event.eventId));
        expect(answer.meta).toMatchObject({ count: Math.min(limit, all.length), limit });
        expect(answer.meta.total.count).toBe(all.length);
        expect(answer.meta.total.premiumUsd).toBeCloseTo(
          all.reduce((sum, { event }) => sum + event.premiumUsd, 0),
          4,
        );
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  test('pages of any size put together are the whole', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.array(fc.integer({ min: 5, max: 60 }), { minLength: 1 }), async (filter, sizes) => {
        const all = expected(filter).map(({ event }) => event.eventId);
        const ids: string[] = [];
        for (let i = 0, cursor: string | null = null; i === 0 || cursor !== null; i++) {
          const next: Json = await read({ ...filter, limit: sizes[i % sizes.length], cursor });
          if (next.meta.cursor !== null) expect(next.meta.count).toBe(next.meta.limit);
          expect(next.meta.total.count).toBe(all.length);
          ids.push(...idsOf(next));
          ({ cursor } = next.meta);
        }
        expect(ids).toEqual(all);
      }),
      { numRuns: 20, seed: 2 },
    );
  });

  test('that are detected meanwhile do not shift the pages that follow', async () => {
    const first = await read({ limit: 30 });
    const newer = largeTrade([leg('O:SPY261218C00600000', nowMs - 1)], 6000, coverage('2026-11-20', 719));
    await storeLargeTrades(app.store, [newer]);
    try {
      const rest = await read({ limit: 200, cursor: first.meta.cursor });
      expect([...idsOf(first), ...idsOf(rest)]).toEqual(expected({}).map(({ event }) => event.eventId));
      expect(rest.meta.total.count).toBe(trades.length + 1);
    } finally {
      const { eventId } = newer.event;
      await inTransaction(app.store, ({ prisma }) => prisma.flowEvent.deleteMany({ where: { eventId } }));
    }
  });

  test.each([
    ['of another filter', { kind: 'sweep' }],
    ['of another session', { session: '2026-11-19' }],
    ['of another expiry', { expiry: '2026-12-18' }],
  ])('400 for a cursor %s', async (_name, change) => {
    const { cursor } = (await read({ limit: 5 })).meta;
    const { errors } = await app.graphql(asked, { limit: 5, cursor, ...change }, { credential: session });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'invalid_params', details: { parameter: 'cursor' } });
  });

  test.each(['', 'x', '1 2', '-1 2 a', '1 2 a b', `${'9'.repeat(16)} 1 a`, '1 1e3 a', `1 1 ${'a'.repeat(101)}`])(
    '400 for a cursor made by hand: %j',
    async (position) => {
      const bound = ['large-trades', 'SPY', JSON.stringify([null, null, null, null, null, null])];
      const cursor = writeCursor(position, bound);
      const { errors } = await app.graphql(asked, { cursor }, { credential: session });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'invalid_params', details: { parameter: 'cursor' } });
    },
  );

  test('of many symbols and their totals are as few statements as of one', async () => {
    const count = async (symbols: string) => {
      const document = `{ symbols(first: 50, ${symbols}) { nodes { flow { largeTrades(kind: sweep, limit: 3) { ${page} } } } } }`;
      const statements = await statementsOf(async () => {
        const { errors } = await app.graphql(document, {}, { credential: session });
        expect(errors).toBeUndefined();
      });
      return withoutCommits(statements).length;
    };
    // The first time, the session of the caller is read too.
    await count('search: "SPY"');
    expect(await count('search: ""')).toBe(await count('search: "SPY"'));
  });

  test('of all underlyings have neither total nor further pages', async () => {
    const { data, errors } = await app.graphql(
      `{ largeTrades(limit: 5) { ${page} } one: largeTrades(symbol: "SPY", limit: 5) { ${page} } }`,
      {},
      { credential: session },
    );
    expect(errors).toBeUndefined();
    expect(data.largeTrades.meta).toMatchObject({ count: 5, cursor: null, total: null });
    expect(data.one.meta).toMatchObject({ count: 5, total: { count: trades.length } });
    expect(idsOf(await read({ limit: 5, cursor: data.one.meta.cursor }))).toEqual(
      expected({})
        .slice(5, 10)
        .map(({ event }) => event.eventId),
    );
  });
});
