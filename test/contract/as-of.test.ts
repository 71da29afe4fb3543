import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { filledIn } from '../../src/rest/contract/example.ts';
import { routes } from '../../src/rest/routes.ts';
import type { Json, TestApp } from '../support/app.ts';
import { testApp } from '../support/app.ts';
import { asOfFields, notSelected, toldOfThePast } from '../support/as-of-fields.ts';
import { filledArguments } from '../support/filled-arguments.ts';
import { filledApp, filledContract } from '../support/filled-market.ts';
import { GraphWalk, objectType } from '../support/graph-walk.ts';
import { newYork } from '../support/option-market.ts';
import { saveScreen } from './known-routes.ts';

/** A server of now, and one over the same data whose clock is moved to each instant. */
let now: TestApp;
let then: TestApp;
/** Their accounts, each with a saved screen. */
const accounts = new Map<TestApp, string>();
const sessionOf = (app: TestApp) => app.access.sessions.create(accounts.get(app)!, 3_600_000);
beforeAll(async () => {
  now = await filledApp();
  const other = await filledApp();
  then = await testApp({ store: { ...other.store, endedBarsOnly: true } });
  for (const app of [now, then]) {
    accounts.set(app, await app.account());
    await saveScreen(app, await sessionOf(app));
  }
});
afterAll(async () => {
  await now.close();
  await then.close();
});

/** Before the open, within a minute, after the close of a half day, on a weekend, and today. */
const instants = [
  newYork('2026-11-27', '09:26'),
  newYork('2026-11-30', '09:41') + 17_000,
  exchangeInstant('2026-11-27', 21 * 60),
  newYork('2026-11-30', '06:30'),
  newYork('2026-11-29', '12:00'),
  newYork('2026-12-01', '09:36') + 1000,
];
const named = instants.map((ms) => [new Date(ms).toISOString(), ms] as const);

const walk = new GraphWalk(filledArguments, notSelected);

/** Ways to the fields that are selected one by one. */
const ways = [
  'AsOf.symbol',
  'SymbolConnection.nodes',
  'Symbol.gex',
  'Symbol.flow',
  'Symbol.offExchange',
  'Symbol.volatility',
  // Fields whose types were selected elsewhere.
  'GexDiff.to',
  'GreeksMeta.provenance',
  'GexDiffMeta.provenance',
  'ContractHistoryMeta.provenance',
  'LargeTradesMeta.provenance',
  'FlowEvent.context',
  'RankedPrint.context',
];

const selections = asOfFields(walk, 'SPY');

/** An answer without its cursors, which continue the answer of their instant alone. */
const withoutCursors = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (name, value) => (/cursor$/i.test(name) && value !== null ? 'a cursor' : value)));

/** On a weekend a live server has what is published on Monday. */
const isEarly = (ms: number, name: string) =>
  ms === newYork('2026-11-29', '12:00') && /off-?exchange|levels|screen|^symbol\.sessions/i.test(name);

describe.each(named)('the graph as of %s is that of a server whose clock stands there', (_iso, ms) => {
  test.each(selections.filter(([name]) => !isEarly(ms, name)))('%s', async (_name, selection) => {
    then.clock.nowMs = ms;
    const [asOf, live] = await Promise.all([
      now.graphql(`{ asOf(at: "${ms}") { ${selection} } }`, {}, { credential: await sessionOf(now) }),
      then.graphql(`{ ${selection} }`, {}, { credential: await sessionOf(then) }),
    ]);
    expect(live.data).not.toBeNull();
    const errorsOf = ({ errors = [] }: { errors?: Json[] }) => errors.map(({ message }) => message).sort();
    expect(errorsOf(asOf)).toEqual(errorsOf(live));
    expect(withoutCursors(asOf.data?.asOf)).toEqual(withoutCursors(live.data));
  });
});

const told = new Set(['at', 'at_effective', 'known_at', 'plane', 'read_at_ms']);
const plain = (body: Json) => JSON.parse(JSON.stringify(body), (key, value) => (told.has(key) ? undefined : value));
const market = routes.filter(({ instant }) => instant !== null && instant !== 'own at');
const sessions = {
  symbol: 'SPY',
  screen: 'none',
  contract: filledContract('SPY'),
  session: '2026-11-30',
  previous: '2026-11-27',
  next: '2026-12-01',
};

describe.each(named)('REST as of %s is that of a server whose clock stands there', (_iso, ms) => {
  test.each(market.map((route) => [route.name, route] as const).filter(([name]) => !isEarly(ms, name)))(
    '%s',
    async (_name, { path, example }) => {
      then.clock.nowMs = ms;
      const given = Object.entries(example.params).map(([key, text]) => [key, filledIn(text, sessions)] as const);
      const asked = path.replace(/:(\w+)/g, (_, key: string) => given.find(([name]) => name === key)![1]);
      const query = given.filter(([key]) => !path.includes(`:${key}`)).map(([key, text]) => `${key}=${text}`);
      const [asOf, live] = await Promise.all([
        now.get(`${asked}?${[...query, `at=${ms}`].join('&')}`, { credential: await sessionOf(now) }),
        then.get(`${asked}?${query.join('&')}`, { credential: await sessionOf(then) }),
      ]);
      expect([asOf.status, plain(asOf.body)]).toEqual([live.status, plain(live.body)]);
      if (asOf.status === 200) expect(asOf.body.meta.at).toBe(ms);
    },
  );
});

test('the graph as of an instant is asked for every field that it has', () => {
  const reached = new Set<string>();
  const reach = (type: GraphQLObjectType) => {
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      if (toldOfThePast.has(field.name) || reached.has(name)) continue;
      reached.add(name);
      const below = getNamedType(field.type);
      if (isObjectType(below)) reach(below);
    }
  };
  reach(objectType('AsOf'));
  expect([...reached].filter((name) => !walk.selected.has(name) && !ways.includes(name))).toEqual([]);
});
