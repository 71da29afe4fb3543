import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';
import { type Answer, type Json, type TestApp, testApp } from '../support/app.ts';
import { graphTransports } from '../support/graph-transports.ts';
import {
  doublingFragments,
  introspectionThroughFields,
  introspectionThroughFragments,
  manyCloses,
  registryChainPolicies,
  registryRows,
  times,
} from './attack-documents.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { RATE_PRO: '600' } });
});
afterAll(() => app.close());

/** The limits that a document can go over, and a document over each. */
const over: Record<string, { document: string; counted: number }> = {
  characters: { document: `{__typename}${' '.repeat(100_000)}`, counted: 100_012 },
  tokens: { document: `{quotes(symbols:[${times(5000, () => '"A"')}]){rows{symbol}}}`, counted: 5015 },
  fragments: {
    document: `{${times(101, (i) => `...F${i}`)}} ${times(101, (i) => `fragment F${i} on Query{__typename}`)}`,
    counted: 101,
  },
  directives: { document: `{__typename ${times(101, () => '@skip(if:false)')}}`, counted: 101 },
  fields: {
    document: `{${times(50, () => '...F')}} fragment F on Query{${times(40, (i) => `a${i}:__typename`)}}`,
    counted: 50 * 41,
  },
  depth: { document: `{__type(name:"T"){${'ofType{'.repeat(16)}name${'}'.repeat(16)}}}`, counted: 18 },
  aliases: { document: `{${times(101, (i) => `a${i}:__typename`)}}`, counted: 101 },
  repeats: { document: `{${times(21, () => '__typename')}}`, counted: 21 },
  ids: {
    document: `{${times(6, (i) => `a${i}:quotes(symbols:[${times(200, () => '"A"')}]){rows{symbol}}`)}}`,
    counted: 1200,
  },
  leaves: {
    document: `{symbol(symbol:"SPX"){chain{rows{${times(60, (i) => `a${i}:bid`)}}}}}`,
    counted: 0,
  },
  answerBytes: {
    document: `{symbol(symbol:"SPX"){chain{rows{${times(30, (i) => `${'long'.repeat(20)}${i}:bid`)}}}}}`,
    counted: 0,
  },
};

interface Refused {
  status: number;
  error: Json;
}

const ofGraph = ({ status, body }: Answer): Refused => ({ status, error: body.errors[0] });

/** Every way to send a document, and what it is refused with. */
const ways: Record<string, (query: string) => Promise<Refused>> = {
  'POST /graphql': async (query) => ofGraph(await app.send('POST', '/graphql', { body: JSON.stringify({ query }) })),
  'GET /graphql': async (query) => ofGraph(await app.send('GET', `/graphql?${new URLSearchParams({ query })}`)),
  'graphql-transport-ws': async (query) => {
    const sent = { query, variables: '{}' };
    const { text } = await graphTransports['graphql-transport-ws']!(app, await app.key(), sent);
    return { status: 400, error: JSON.parse(text).payload[0] };
  },
  'the tool of /mcp': async (query) => {
    const params = { name: 'graphql', arguments: { query } };
    const { body } = await app.send('POST', '/mcp', {
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      headers: { accept: 'application/json, text/event-stream' },
    });
    const { code, message, details } = JSON.parse(body.result.content[0].text).error;
    return { status: 400, error: { message, extensions: { code, details } } };
  },
};

describe('a document over a limit is invalid_params, which says what was counted', () => {
  describe.each(Object.keys(ways))('by %s', (way) => {
    test.each(Object.keys(over))('%s', async (limit) => {
      const { document, counted } = over[limit]!;
      // An address of that length is refused before it is read.
      if (way === 'GET /graphql' && document.length > 10_000) return;
      const { status, error } = await ways[way]!(document);
      expect({ status, code: error.extensions.code }).toEqual({ status: 400, code: 'invalid_params' });
      const most = documentLimits[limit as keyof typeof documentLimits];
      expect(error.message).toContain(`at most ${most.toLocaleString('en-US')}`);
      if (way === 'the tool of /mcp') return;
      expect(error.extensions.details).toMatchObject({ limit, most });
      if (counted > 0) expect(error.extensions.details.counted).toBe(counted);
    });
  });

  test.each([
    ['a mutation', `mutation{${times(101, (i) => `a${i}:revokeApiKey(id:"x"){revoked}`)}}`],
    ['an operation that is not asked for', `query A{__typename} query B{${times(101, (i) => `a${i}:__typename`)}}`],
    ['a fragment that nothing spreads', `{__typename} fragment F on Query{${times(101, (i) => `a${i}:__typename`)}}`],
    ['a subscription', `subscription{gexCaptured(symbol:"SPY"){${times(101, (i) => `a${i}:spot`)}}}`],
    [
      'selections of one key below fields of one key',
      `{${times(5, () => `__schema{${times(5, () => 'types{name}')}}`)}}`,
    ],
  ])('%s counts as well', async (_what, query) => {
    const { errors } = await app.graphql(query, {}, { headers: { accept: 'text/event-stream, application/json' } });
    expect(errors![0].extensions.code).toBe('invalid_params');
    expect(errors![0].extensions.details.limit).toMatch(/aliases|repeats/);
  });

  test('a fragment that spreads itself is no endless count', async () => {
    const { errors } = await app.graphql('{...A} fragment A on Query{...B} fragment B on Query{...A}');
    expect(errors![0]).toMatchObject({
      message: expect.stringContaining('within itself'),
      extensions: { code: 'invalid_params' },
    });
  });
});

describe('documents that multiply are refused or cost what they ask', () => {
  test.each([
    ['introspection through fragments', introspectionThroughFragments],
    ['introspection through fields', introspectionThroughFields],
  ])('%s, without a credential', async (_what, query) => {
    for (let i = 0; i < 2; i++) {
      const { status, body } = await app.send('POST', '/graphql', {
        credential: null,
        body: JSON.stringify({ query }),
      });
      expect([status, body.errors[0].extensions.code]).toEqual([400, 'invalid_params']);
    }
  });

  test.each([
    ['fragments that double', doublingFragments],
    ['names of the registry', registryRows(170)],
    ['chain policies of the registry', registryChainPolicies(170)],
    ['closes of two pages of bars', manyCloses(150)],
    ['as many names of the registry as there may be', registryRows(18)],
    ['as many chain policies of the registry as there may be', registryChainPolicies(6)],
    ['as many closes as there may be', manyCloses(48)],
    ['introspection through fragments', introspectionThroughFragments],
    ['introspection through fields', introspectionThroughFields],
  ])('%s, with a free key', async (_what, query) => {
    const credential = await app.key({ apiTier: 'free' });
    const { errors, extensions } = await app.graphql(query, {}, { credential });
    if (errors) expect(errors[0].extensions.code).toBe('invalid_params');
    // A page of 1,000 bars has 10,000 values and costs ten points.
    else expect(extensions.cost.requested).toBeGreaterThan(100);
  });

  test('standard introspection is within every limit', async () => {
    expect((await app.graphql(getIntrospectionQuery({ inputValueDeprecation: true }))).errors).toBeUndefined();
  });
});
