import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeId } from '../../../src/schema/node-id.ts';
import type { TestApp } from '../../support/app.ts';
import { filledApp } from '../../support/filled-market.ts';

let app: TestApp;
beforeAll(async () => {
  app = await filledApp();
});
afterAll(() => app.close());

const base64 = (text: string) => Buffer.from(text).toString('base64url');

/** Ids that the graph never returned. */
const hostile: [string, string][] = [
  ['nothing', ''],
  ['no base64', '\u2603 not base64 at all'],
  ['padding alone', '===='],
  ['a ticker', 'SPY'],
  ['an id with padding', `${base64('Symbol:SPY')}==`],
  ['an id with a newline', `${base64('Symbol:SPY')}\n`],
  ['no colon', base64('Symbol')],
  ['no key', base64('Symbol:')],
  ['no type', base64(':SPY')],
  ['an unknown type', base64('Colour:red')],
  ['the root', base64('Query:1')],
  ['a type without ids', base64('GexStrike:SPY')],
  ['a word of the language', base64('__proto__:x')],
  ['another word of the language', base64('constructor:x')],
  ['a ticker in lower case', base64('Symbol:spy')],
  ['no ticker', base64('Symbol:1;DROP TABLE symbols')],
  ['NUL in the key', base64('Symbol:SPY\u0000')],
  ['NUL in the type', base64('Sym\u0000bol:SPY')],
  ['bytes that are no text', Buffer.from([0x53, 0xff, 0xfe, 0x3a, 0x80]).toString('base64url')],
  ['a capture without an instant', base64('GexCapture:SPY')],
  ['a capture of no time', base64('GexCapture:SPY:99999999999999999999:net:all')],
  ['a capture with a leading zero', base64('GexCapture:SPY:01:net:all')],
  ['a capture of no strike', base64('GexCapture:SPY:1:net:0')],
  ['an event of no kind', base64('FlowEvent:party:O:SPY261218C00600000:1:1')],
  ['an event of no contract', base64('FlowEvent:sweep:O:SPY261318C00600000:1:1')],
  ['an id of 10 kB', base64(`Symbol:${'A'.repeat(10_000)}`)],
  ['10 kB of anything', 'x'.repeat(10_000)],
];

const fields = {
  node: 'query ($id: ID!) { node(id: $id) { id __typename } }',
  nodes: 'query ($id: ID!) { nodes(ids: [$id]) { id __typename } }',
  refetch: 'query ($id: ID!) { refetch(nodeId: $id) { nodeId __typename } }',
};

describe.each(Object.entries(fields))('%s', (name, query) => {
  test.each(hostile)('refuses %s with invalid_params', async (_what, id) => {
    const posted = await app.graphql(query, { id });
    const address = `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify({ id }))}`;
    const answers = [posted.answer, ...(id.length < 5000 ? [await app.get(address)] : [])];
    const inDocument = query.replace('query ($id: ID!) ', '').replace('$id', () => JSON.stringify(id));
    answers.push((await app.graphql(inDocument)).answer);
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.data).toEqual({ [name]: null });
      expect(body.errors).toEqual([expect.objectContaining({ path: [name] })]);
      expect(body.errors[0].extensions.code).toBe('invalid_params');
    }
  });

  test('refuses NUL and halves of surrogate pairs in the id itself', async () => {
    for (const id of ['\u0000', '\ud800', `${encodeId('Symbol', 'SPY')}\u0000`]) {
      const { data, errors } = await app.graphql(query, { id });
      expect(data?.[name] ?? null).toBeNull();
      expect(errors?.[0].extensions.code).toBe('invalid_params');
    }
  });
});

describe('an id of the other kind', () => {
  test.each([
    'Watchlist:mine',
    'JournalTrade:1',
    'JournalAccount:1',
    'ApiKey:1',
    'OptionContract:O:SPY261218C00600000',
  ])('node refuses that of %s, which refetch finds', async (text) => {
    const id = base64(text);
    for (const query of [fields.node, fields.nodes])
      expect((await app.graphql(query, { id })).errors?.[0]).toMatchObject({
        message: expect.stringMatching(/^ids?: expected the id of an object, got a nodeId; send it to refetch$/),
        extensions: { code: 'invalid_params' },
      });
    const { errors } = await app.graphql(fields.refetch, { id }, { credential: await app.session() });
    expect(errors ?? []).toEqual([]);
  });

  test('refetch refuses that of a symbol, which node finds', async () => {
    const { errors } = await app.graphql(fields.refetch, { id: encodeId('Symbol', 'SPY') });
    expect(errors?.[0]).toMatchObject({
      message: 'nodeId: expected the nodeId of an object, got an id; send it to node',
      extensions: { code: 'invalid_params' },
    });
  });

  test.each([
    'Watchlist:\u0001',
    `Watchlist:${'a'.repeat(129)}`,
    'Watchlist:\n',
    'OptionContract:O:spy261218C00600000',
  ])('refetch refuses %j, which nobody can have', async (text) => {
    const { errors } = await app.graphql(fields.refetch, { id: base64(text) });
    expect(errors?.[0].extensions.code).toBe('invalid_params');
  });

  test('the longest id that an owner can choose is found', async () => {
    const id = '€'.repeat(128);
    const credential = await app.session();
    const made = await app.graphql(
      'mutation ($id: ID!) { putWatchlist(id: $id, name: "Long", symbols: []) { watchlist { nodeId } } }',
      { id },
      { credential },
    );
    const { nodeId } = made.data.putWatchlist.watchlist;
    const { data } = await app.graphql(fields.refetch, { id: nodeId }, { credential });
    expect(data.refetch).toEqual({ nodeId, __typename: 'Watchlist' });
  });
});

describe('nodes', () => {
  test('refuses more than 100 ids', async () => {
    const ids = new Array(101).fill(encodeId('Symbol', 'SPY'));
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const { data, errors } = await app.graphql(query, { ids });
    expect([data, errors?.[0].extensions.code]).toEqual([{ nodes: null }, 'invalid_params']);
    expect((await app.graphql(query, { ids: ids.slice(1) })).data.nodes).toHaveLength(100);
    // They are counted before they are read: a body holds thousands.
    const many = await app.graphql(query, { ids: new Array(5000).fill('no id') });
    expect(many.errors?.[0].message).toContain('ids: the document names 5,000 ids over all its fields; at most 1,000.');
  });
});

describe('/mcp', () => {
  test.each(hostile)('answers %s as a failed call of the tool, not as a fault', async (_what, id) => {
    for (const query of Object.values(fields)) {
      const call = { name: 'graphql', arguments: { query, variables: { id } } };
      const { status, body } = await app.send('POST', '/mcp', {
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
        headers: { accept: 'application/json, text/event-stream' },
      });
      expect([status, body.error]).toEqual([200, undefined]);
      expect(JSON.stringify(body.result)).toContain('invalid_params');
    }
  });
});
