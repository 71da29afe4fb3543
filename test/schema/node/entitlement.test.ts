import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeId } from '../../../src/schema/node-id.ts';
import type { TestApp } from '../../support/app.ts';
import { filledApp } from '../../support/filled-market.ts';
import { nodeQuery, objectAt, pathQuery, symbolPaths } from './node-documents.ts';

let app: TestApp;
let full: string;
const callers: [string, string][] = [];
beforeAll(async () => {
  app = await filledApp();
  full = await app.session();
  // Keys and sessions in turn: of each tier and classification there is a caller, of each kind and tier, and so on.
  for (const tier of ['free', 'basic', 'pro'] as const)
    for (const classification of ['non_professional', 'professional', null] as const) {
      const name = `${tier} ${classification}`;
      callers.push(
        callers.length % 2 === 0
          ? [`key ${name}`, await app.key({ apiTier: tier, siteTier: 'free', classification })]
          : [`session ${name}`, await app.session({ siteTier: tier, apiTier: 'free', classification })],
      );
    }
});
afterAll(() => app.close());

/** Symbols with data of every kind: for everybody, by tier, by declaration, by both. */
const symbols = ['SPY', 'MSFT', 'NVDA', 'XSP', 'SPX'] as const;

/** Answer for one object: itself, or the code of the missing permission. */
const said = (object: unknown, errors: { extensions: { code: string } }[] | undefined) =>
  object ?? errors?.[0]?.extensions.code ?? null;

describe('node', () => {
  test.each(symbolPaths)(
    'gives of $name to every caller what the path gives, and refuses what the path refuses',
    async (way) => {
      const refused = new Set<unknown>();
      for (const symbol of symbols) {
        const known = await app.graphql(pathQuery(way, symbol), {}, { credential: full });
        const { id } = objectAt(known.data, way.path);
        for (const [name, credential] of callers) {
          const byPath = await app.graphql(pathQuery(way, symbol), {}, { credential });
          const expected = said(objectAt(byPath.data, way.path), byPath.errors);
          const byId = await app.graphql(nodeQuery(way.type), { id }, { credential });
          expect(said(byId.data?.node, byId.errors), `${name}, ${symbol}`).toEqual(expected);
          if (typeof expected === 'string') refused.add(expected);
        }
      }
      // Fields that only lead on are open to everyone.
      const isOpen = ['the symbol', 'access', 'chainPolicy', 'gex', 'flow', 'volatility', 'offExchange'].includes(
        way.name,
      );
      expect([...refused].sort()).toEqual(isOpen ? [] : ['attestation_required', 'not_entitled_tier']);
    },
  );

  test('needs a credential', async () => {
    const { errors, answer } = await app.graphql(
      nodeQuery('Symbol'),
      { id: encodeId('Symbol', 'SPY') },
      { credential: null },
    );
    expect([answer.status, errors?.[0].extensions.code]).toEqual([401, 'unauthenticated']);
  });

  test('what may not be read is null with an error at its place; the others stand', async () => {
    const credential = await app.key({ apiTier: 'free' });
    const ids = ['SPY', 'NVDA', 'AAPL'].map((symbol) => encodeId('Quote', symbol));
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Quote { spot } } }';
    for (let i = 0; i < 3; i++) {
      const { data, errors } = await app.graphql(query, { ids }, { credential });
      expect(data.nodes.map((one: object | null) => one !== null)).toEqual([true, false, true]);
      expect(errors).toEqual([expect.objectContaining({ path: ['nodes', 1] })]);
      expect(errors?.[0].extensions.code).toBe('not_entitled_tier');
    }
  });

  test('an API key learns nothing of the account’s keys by refetch', async () => {
    const accountId = await app.account();
    const { key, meta } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const query = 'query ($id: ID!) { refetch(nodeId: $id) { nodeId } }';
    const { data, errors } = await app.graphql(query, { id: encodeId('ApiKey', meta.id) }, { credential: key });
    expect([data, errors?.[0].extensions.code]).toEqual([{ refetch: null }, 'not_entitled_tier']);
  });
});

describe('what reading by id costs', () => {
  const requested = async (query: string, variables: Record<string, unknown> = {}) => {
    const { extensions, errors } = await app.graphql(query, variables, { credential: full });
    expect(errors ?? []).toEqual([]);
    return extensions.cost as { requested: number; actual: number };
  };

  test.each(symbolPaths)('is for $name at least what the object costs on its path', async (way) => {
    const [step = ''] = way.selection.split('.');
    const known = await app.graphql(pathQuery(way, 'SPY'), {}, { credential: full });
    const { id } = objectAt(known.data, way.path);
    const one = `... on ${way.type} { ${way.type === 'GexCapture' ? 'strikes { strike gex }' : 'id'} }`;
    const byPath = await requested(
      pathQuery(way, 'SPY')
        .replace(/\.\.\.Own_\w+/, one)
        .replace(/fragment.*/, ''),
    );
    const byId = await requested(`query ($id: ID!) { node(id: $id) { ${one} } }`, { id });
    // History reads a session, where the id reads one capture of it; the feed reads what the id names.
    if (!step.startsWith('gex') || !way.selection.includes('history'))
      expect(byId.actual).toBeGreaterThanOrEqual(byPath.actual - 1);
    expect(byId.actual).toBeLessThanOrEqual(byPath.actual + 3);
  });

  test('is the sum for several', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const ids = Array.from({ length: 50 }, () => encodeId('Quote', 'SPY'));
    const one = await requested(query, { ids: ids.slice(0, 1) });
    const all = await requested(query, { ids });
    expect(all.actual).toBeGreaterThanOrEqual(50 * (one.actual - 1));
  });

  test('is counted in the group of the field that gave the id, and of what is below', async () => {
    const accountId = await app.account();
    const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
    const credential = await app.access.sessions.create(accountId, 3_600_000);
    const counted: [string, string][] = [
      ['Symbol:SPY', '{ node(id: $id) { id } }'],
      ['SymbolGex:SPY', '{ node(id: $id) { ... on SymbolGex { latest { netGex } } } }'],
      ['Quote:SPY', '{ node(id: $id) { ... on Quote { spot } } }'],
      ['Spot:SPY', '{ nodes(ids: [$id]) { ...S } } fragment S on Spot { price }'],
      ['VolatilityTerm:SPY', '{ node(id: $id) { ... on VolatilityTerm { spot } } }'],
      ['Quote:SPY', '{ node(id: $id) { ... on Quote { node { spot { price } gex { latest { netGex } } } } } }'],
      ['Watchlist:x', '{ refetch(nodeId: $id) { ... on Watchlist { name } } }'],
    ];
    for (const [id, query] of counted) {
      const [type, of] = id.split(':') as [string, string];
      await app.graphql(`query ($id: ID!) ${query}`, { id: encodeId(type, of) }, { credential: key });
    }
    const { data } = await app.graphql('{ me { usage { totalsByScopeGroup } } }', {}, { credential });
    expect(data.me.usage.totalsByScopeGroup).toEqual({
      'market.reference': 1,
      'market.live': 3,
      'analytics.gex': 2,
      'analytics.vol': 1,
      // A field that can be an account's own is charged to the account, whatever it returns.
      account: 1,
      watchlists: 1,
    });
  });
});
