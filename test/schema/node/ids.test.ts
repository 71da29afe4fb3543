import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { encodeId } from '../../../src/schema/node-id.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { subscribe } from '../../support/event-reader.ts';
import { filledApp, filledContract, filledNowMs } from '../../support/filled-market.ts';
import {
  nodeQuery,
  nodeTypes,
  objectAt,
  ownFragment,
  pathQuery,
  refetchableTypes,
  refetchQuery,
  symbolPaths,
} from './node-documents.ts';

let app: TestApp;
/** The same store behind another process's memory. */
let other: TestApp;
let session: string;
beforeAll(async () => {
  app = await filledApp();
  other = await testApp({ nowMs: filledNowMs, store: app.store });
  session = await app.session();
});
afterAll(async () => {
  await other.close();
  await app.close();
});

const ask = async (query: string, variables: Record<string, unknown> = {}, of = app, credential = session) => {
  const { data, errors } = await of.graphql(query, variables, { credential });
  expect(errors ?? [], query.slice(0, 300)).toEqual([]);
  return data;
};

const objectOf = async (way: (typeof symbolPaths)[number], symbol: string, of = app) =>
  objectAt(await ask(pathQuery(way, symbol), {}, of), way.path);

const symbols = ['SPY', 'MSFT', 'SPX'] as const;

describe('an id', () => {
  test('every type of Node is met by a path', () => {
    expect([...new Set(symbolPaths.map(({ type }) => type))].sort()).toEqual(nodeTypes.map(({ name }) => name).sort());
  });

  test.each(symbolPaths)('of $name is the same in every request and process', async (way) => {
    for (const symbol of symbols) {
      const { id } = await objectOf(way, symbol);
      expect(id).toMatch(/^[\w-]+$/);
      expect((await objectOf(way, symbol)).id).toBe(id);
      expect((await objectOf(way, symbol, other)).id).toBe(id);
    }
  });

  test('is made of the type and the object’s key, and of nothing that a process makes', async () => {
    const { symbol } = await ask('{ symbol(symbol: "spy") { id gex { id } quote { id } } }');
    expect(symbol).toEqual({
      id: 'U3ltYm9sOlNQWQ',
      gex: { id: 'U3ltYm9sR2V4OlNQWQ' },
      quote: { id: 'UXVvdGU6U1BZ' },
    });
  });

  test('is another one for every other object', async () => {
    const seen = new Map<string, string>();
    for (const way of symbolPaths)
      for (const symbol of symbols) {
        const { id } = await objectOf(way, symbol);
        expect(seen.get(id), `${way.name} of ${symbol}`).toBeUndefined();
        seen.set(id, `${way.name} of ${symbol}`);
      }
    expect(seen.size).toBe(symbolPaths.length * symbols.length);
  });

  test('is the same whichever way leads to the object', async () => {
    const data = await ask(`{
      symbol(symbol: "SPY") { id quote { id node { id } } contracts(first: 1) { nodes { underlying { id } } edges { node { underlying { id } } } } gex { latest { id } history(date: "2026-11-30") { captures { id } } at(time: "2026-11-30") { id } } }
      quotes(symbols: ["SPY"]) { rows { id node { id } } }
      symbols(first: 100) { nodes { id symbol } edges { node { id symbol } } }
    }`);
    const { symbol, quotes } = data;
    const ofSymbol = [
      ...[symbol.quote.node.id, quotes.rows[0].node.id, symbol.contracts.nodes[0].underlying.id],
      ...[data.symbols.nodes, data.symbols.edges.map(({ node }: Json) => node)].map(
        (all: Json[]) => all.find((one) => one.symbol === 'SPY').id,
      ),
      symbol.contracts.edges[0].node.underlying.id,
    ];
    expect(new Set(ofSymbol)).toEqual(new Set([symbol.id]));
    expect(quotes.rows[0].id).toBe(symbol.quote.id);
    expect(symbol.gex.at.id).toBe(symbol.gex.history.captures.at(-1).id);
  });

  test('of a capture holds its instant and what its rows are: the past is never merged into the present', async () => {
    const { symbol } = await ask(`{ symbol(symbol: "SPY") { gex {
      latest { id capturedAt } again: latest { id } at(time: "2026-11-30") { id capturedAt }
      top: latest(topStrikes: 3) { id } two: latest(topStrikes: 2) { id } byExpiry: latest(byExpiry: true) { id }
    } } }`);
    const { latest, again, ...others } = symbol.gex;
    expect(again.id).toBe(latest.id);
    expect(others.at.capturedAt).toBeLessThan(latest.capturedAt);
    const ids = [latest, ...Object.values(others)].map((capture: Json) => capture.id);
    expect(new Set(ids).size).toBe(5);
    expect(latest.id).toBe(encodeId('GexCapture', `SPY:${latest.capturedAt}:net:all`));
    app.clock.nowMs = latest.capturedAt - 1;
    const before = await ask('{ symbol(symbol: "SPY") { gex { latest { id capturedAt } } } }');
    app.clock.nowMs = filledNowMs;
    expect(before.symbol.gex.latest.capturedAt).toBeLessThan(latest.capturedAt);
    expect(before.symbol.gex.latest.id).not.toBe(latest.id);
  });
});

describe('an event of a subscription', () => {
  test('has the ids that queries give: a cache updates what components show', async () => {
    const first = async (subscription: string) => {
      const reader = await subscribe(app.url, session, subscription);
      onTestFinished(() => reader.leave());
      return (await reader.next())?.data.data;
    };
    const { symbol } = await ask('{ symbol(symbol: "SPY") { quote { id } gex { latest(topStrikes: 3) { id } } } }');
    expect(await first('subscription { quotes(symbols: ["SPY"]) { id } }')).toEqual({ quotes: symbol.quote });
    expect(await first('subscription { gexCaptured(symbol: "SPY", topStrikes: 3) { id } }')).toEqual({
      gexCaptured: symbol.gex.latest,
    });
  });
});

describe('node', () => {
  test.each(symbolPaths)('gives of $name what its path gives', async (way) => {
    for (const symbol of symbols) {
      const object = await objectOf(way, symbol);
      // Three times: as it is, compiled, and from the cache.
      for (let i = 0; i < 3; i++) expect((await ask(nodeQuery(way.type), { id: object.id })).node).toEqual(object);
      expect((await ask(nodeQuery(way.type), { id: object.id }, other)).node).toEqual(object);
    }
  });

  test('leads on from there as the path does', async () => {
    const { symbol } = await ask(
      '{ symbol(symbol: "SPY") { gex { id latest(topStrikes: 2) { netGex strikes { strike gex } } } } }',
    );
    const query =
      'query ($id: ID!) { node(id: $id) { ... on SymbolGex { latest(topStrikes: 2) { netGex strikes { strike gex } } } } }';
    expect((await ask(query, { id: symbol.gex.id })).node.latest).toEqual(symbol.gex.latest);
  });

  test('gives several at once in the order asked, one asked twice twice', async () => {
    const objects = [];
    for (const way of symbolPaths) objects.push(await objectOf(way, 'SPY'));
    const asked = [...objects, objects[3]];
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';
    const { nodes } = await ask(query, { ids: asked.map(({ id }) => id) });
    expect(nodes).toEqual(asked.map(({ __typename, id }) => ({ __typename, id })));
  });

  test('gives the same where a large answer is made in pieces', async () => {
    const { symbol } = await ask(
      '{ symbol(symbol: "SPY") { gex { history(date: "2026-11-30", from: "09:30", to: "09:45", byExpiry: true) { captures { id strikes { strike expiry gex callOi putOi } } } } } }',
    );
    const { captures } = symbol.gex.history;
    const query =
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on GexCapture { strikes { strike expiry gex callOi putOi } } } }';
    expect((await ask(query, { ids: captures.map(({ id }: Json) => id) })).nodes).toEqual(captures);
  });

  test('gives no capture that is not there, or not yet', async () => {
    const { symbol } = await ask('{ symbol(symbol: "SPY") { gex { latest { id capturedAt } } } }');
    const { id, capturedAt } = symbol.gex.latest;
    const query = 'query ($id: ID!) { node(id: $id) { id } }';
    expect(await ask(query, { id: encodeId('GexCapture', `SPY:${capturedAt + 1}:net:all`) })).toEqual({ node: null });
    app.clock.nowMs = capturedAt - 1;
    expect(await ask(query, { id })).toEqual({ node: null });
    app.clock.nowMs = filledNowMs;
    expect(await ask(query, { id })).toEqual({ node: { id } });
  });
});

describe('refetch', () => {
  const own = `mutation { 
    putWatchlist(id: "tech stocks ✓", name: "Tech", symbols: ["AAPL", "SPY"]) { watchlist { ...Own_Watchlist } }
    putScreen(id: "falling ✓", screen: { name: "Falling", where: { changePct: { lt: 0 } } }) { screen { ...Own_SavedScreen } }
    createJournalTrade(id: "t:1", trade: { accountId: "main", symbol: "SPY", side: "buy", qty: 1, price: 600.5, note: "first" }) { trade { ...Own_JournalTrade account { ...Own_JournalAccount } } }
    createKey(name: "mine") { created { info { ...Own_ApiKey } } }
  }`;
  const withFragments = (document: string) =>
    [document, ...[...document.matchAll(/\.\.\.Own_(\w+)/g)].map(([, type]) => ownFragment(type!))].join(' ');
  let objects: Record<string, Json>;
  beforeAll(async () => {
    const made = await ask(withFragments(own));
    const contract = `{ contract(id: "${filledContract('SPY')}") { ...Own_OptionContract } }`;
    const { account, ...trade } = made.createJournalTrade.trade;
    objects = {
      Watchlist: made.putWatchlist.watchlist,
      SavedScreen: made.putScreen.screen,
      JournalTrade: trade,
      JournalAccount: account,
      ApiKey: made.createKey.created.info,
      OptionContract: (await ask(withFragments(contract))).contract,
    };
  });

  test.each(refetchableTypes.map(({ name }) => name))(
    'gives what an own %s is elsewhere, whose id stays the contract’s',
    async (type) => {
      const object = objects[type];
      expect(object.__typename).toBe(type);
      expect(object.nodeId).not.toBe(object.id);
      expect(object.nodeId).toBe(encodeId(type, object.id));
      for (let i = 0; i < 3; i++)
        expect((await ask(refetchQuery(type), { id: object.nodeId })).refetch).toEqual(object);
      expect((await ask(refetchQuery(type), { id: object.nodeId }, other)).refetch).toEqual(object);
    },
  );

  test('gives nothing of another account, to whom the same was just told', async () => {
    const stranger = await app.session();
    for (const [type, object] of Object.entries(objects)) {
      const { refetch } = await ask(refetchQuery(type), { id: object.nodeId });
      expect(refetch).toEqual(object);
      const theirs = await ask(refetchQuery(type), { id: object.nodeId }, app, stranger);
      expect([type, theirs.refetch]).toEqual([type, type === 'OptionContract' ? object : null]);
      const bare = 'query ($id: ID!) { refetch(nodeId: $id) { nodeId __typename } symbol(symbol: "SPY") { symbol } }';
      await ask(bare, { id: object.nodeId });
      expect((await ask(bare, { id: object.nodeId }, app, stranger)).refetch === null).toBe(type !== 'OptionContract');
    }
  });

  test('gives null for what was deleted', async () => {
    await ask('mutation { putWatchlist(id: "gone", name: "Gone", symbols: []) { watchlist { id } } }');
    await ask('mutation { deleteWatchlist(id: "gone") { deleted } }');
    expect((await ask(refetchQuery('Watchlist'), { id: encodeId('Watchlist', 'gone') })).refetch).toBeNull();
  });
});
