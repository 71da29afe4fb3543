import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FlowLeg } from '../../../src/core/domain/flow/flow.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { coverage, largeTrade, leg, rankedList, storeLargeTrades, storeRankedLists } from '../../support/flow.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

// Friday 2026-11-20, 17:00 in New York.
const nowMs = Date.parse('2026-11-20T22:00Z');
const session = '2026-11-20';
/** Weekly contracts of an index, which are of a root of their own, and those of a fund at the same strikes. */
const contracts = ['SPXW', 'SPY'].flatMap((root) =>
  ['C', 'P'].flatMap((right) =>
    [600, 605].map((strike) => `O:${root}261218${right}${`${strike}000`.padStart(8, '0')}`),
  ),
);
let app: TestApp;
/** Every leg that is stored, with the id of its event. */
const stored: { eventId: string; leg: FlowLeg; id: string }[] = [];

beforeAll(async () => {
  app = await testApp({ nowMs });
  const covered = coverage(session, 960);
  const trades = Array.from({ length: 60 }, (_, i) => {
    const ids = i % 5 === 0 ? [contracts[i % 4]!, contracts[(i + 1) % 4]!] : [contracts[i % contracts.length]!];
    const legs = ids.map((id, n) =>
      leg(id, exchangeInstant(session, 600) + 1000 * i + n, { sequence: 10 * i + n, price: 1 + i / 100 }),
    );
    const trade = largeTrade(legs, i, covered, legs.length > 1 ? { eventKind: 'multi_leg', side: 'unknown' } : {});
    for (const [n, each] of legs.entries()) stored.push({ eventId: trade.event.eventId, leg: each, id: ids[n]! });
    return trade;
  });
  await storeLargeTrades(app.store, trades);
  const ranked = contracts.flatMap((id, i) =>
    [1, 2].map((n) => leg(id, exchangeInstant(session, 600), { price: 9 - n + i / 10, sequence: 100 * i + n })),
  );
  const of = (roots: RegExp) => ranked.filter(({ contract }) => roots.test(contract.root));
  await storeRankedLists(app.store, [
    rankedList('SPX', 'pro', session, of(/SPX/)),
    rankedList('SPY', 'pro', session, of(/SPY/)),
    rankedList('SPY', 'free', session, of(/SPY/)),
  ]);
});
afterAll(() => app.close());

const ask = async (document: string, credential?: string) => {
  const { data, errors } = await app.graphql(document, {}, { credential: credential ?? (await app.session()) });
  expect(errors).toBeUndefined();
  return data;
};

test.each(contracts)(
  '%s leads to the large trades that have it as a leg, newest first, and their total',
  async (id) => {
    const expected = stored.filter((each) => each.id === id).map(({ eventId }) => eventId);
    expect(expected.length).toBeGreaterThan(3);
    const data = await ask(`{ contract(id: "${id}") { largeTrades {
    events { update { event { eventId legs { contract { id } } } } } meta { count total { count premiumUsd } } } } }`);
    const { events, meta } = data.contract.largeTrades;
    expect(events.map((each: Json) => each.update.event.eventId)).toEqual(expected.toReversed());
    for (const { update } of events) expect(update.event.legs.map((each: Json) => each.contract.id)).toContain(id);
    const premium = stored
      .filter(({ eventId }) => expected.includes(eventId))
      .reduce((sum, each) => sum + each.leg.premiumUsd, 0);
    expect([meta.count, meta.total.count]).toEqual([expected.length, expected.length]);
    expect(meta.total.premiumUsd).toBeCloseTo(premium, 6);
  },
);

test('its large trades come in pages, whose cursor is of this contract alone, and of one kind', async () => {
  const id = contracts[0]!;
  const page = (cursor: string | null) =>
    `{ contract(id: "${id}") { largeTrades(limit: 2, cursor: ${JSON.stringify(cursor)}) { events { update { event { eventId } } } meta { cursor } } } }`;
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const { largeTrades }: Json = (await ask(page(cursor))).contract;
    found.push(...largeTrades.events.map((each: Json) => each.update.event.eventId));
    ({ cursor } = largeTrades.meta);
  } while (cursor !== null);
  expect(found).toEqual(
    stored
      .filter((each) => each.id === id)
      .map(({ eventId }) => eventId)
      .reverse(),
  );
  const { contract } = await ask(page(null));
  const other = await app.graphql(
    `{ contract(id: "${contracts[1]}") { largeTrades(limit: 2, cursor: "${contract.largeTrades.meta.cursor}") { meta { count } } } }`,
    {},
    { credential: await app.session() },
  );
  expect(other.errors).toMatchObject([{ extensions: { code: 'invalid_params' } }]);
  const multi = await ask(
    `{ contract(id: "${id}") { largeTrades(kind: multi_leg) { meta { count total { count } } } } }`,
  );
  const lone = await ask(`{ contract(id: "${id}") { largeTrades(kind: single_block) { meta { count } } } }`);
  expect(multi.contract.largeTrades.meta.count + lone.contract.largeTrades.meta.count).toBe(found.length);
  expect(multi.contract.largeTrades.meta.total.count).toBe(multi.contract.largeTrades.meta.count);
});

test('its end-of-day prints are those of the list of its underlying, with their ranks', async () => {
  for (const [id, symbol] of [
    [contracts[1], 'SPX'],
    [contracts[6], 'SPY'],
  ]) {
    const print = 'sessionDate tier prints { rank printId contract { id } }';
    const data = await ask(`{ contract(id: "${id}") { eod { ${print} } } eod(symbol: "${symbol}") { ${print} } }`);
    const own = data.eod.prints.filter((each: Json) => each.contract.id === id);
    expect(own).toHaveLength(2);
    expect(data.contract.eod).toEqual({ ...data.eod, prints: own });
  }
});

test('as of an instant there are only the trades that had their last leg by then', async () => {
  const id = contracts[0]!;
  const atMs = exchangeInstant(session, 600) + 20_000;
  const data = await ask(
    `{ asOf(at: "${atMs}") { contract(id: "${id}") { largeTrades { events { update { event { eventId } } } } eod { prints { rank } } } } }`,
  );
  const late = new Set(stored.filter(({ leg: each }) => each.eventTsMs > atMs).map(({ eventId }) => eventId));
  const expected = stored.filter((each) => each.id === id && !late.has(each.eventId)).map(({ eventId }) => eventId);
  const { largeTrades, eod } = data.asOf.contract;
  expect(largeTrades.events.map((each: Json) => each.update.event.eventId)).toEqual(expected.reverse());
  expect(eod.prints).toEqual([]);
});

test('one contract and eight take the same number of statements', async () => {
  const counts = [];
  for (const some of [contracts.slice(0, 1), contracts]) {
    const rows = `{ contracts(ids: ${JSON.stringify(some)}) { rows { contract { id largeTrades { events { seq } meta { total { count } } } eod(session: "${session}") { prints { rank } } } } } }`;
    counts.push(withoutCommits(await statementsOf(() => ask(rows))).length);
  }
  expect(counts[1]).toBe(counts[0]);
});

test('a caller without flow gets the same error there as from flow itself', async () => {
  const credential = await app.key({ apiTier: 'basic' });
  const document = `{ contract(id: "${contracts[4]}") { id largeTrades { events { seq } } eod(session: "${session}") { prints { rank } } } symbol(symbol: "SPY") { flow { largeTrades { events { seq } } } } }`;
  const { data, errors } = await app.graphql(document, {}, { credential });
  expect(data.contract).toEqual({ id: contracts[4], largeTrades: null, eod: null });
  expect(new Set(errors!.map(({ message }) => message)).size).toBe(1);
  expect(errors).toHaveLength(3);
});
