import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { talk } from '../support/web-socket.ts';

let app: TestApp;
let credential: string;
beforeAll(async () => {
  app = await testApp();
  credential = await app.key();
});
afterAll(() => app.close());

const query = 'query Own { me { tier } }';
const text = async (answer: Promise<{ bytes: Buffer }>) => (await answer).bytes.toString();

/** Sends an operation with a name, by endpoint; each resolves with the text of its answer. */
const endpoints: Record<string, (operationName: string, query: string) => Promise<string>> = {
  'GET /graphql': (operationName, query) =>
    text(app.get(`/graphql?${new URLSearchParams({ query, operationName })}`, { credential })),
  'POST /graphql': (operationName, query) =>
    text(app.send('POST', '/graphql', { body: JSON.stringify({ query, operationName }), credential })),
  'graphql-transport-ws': async (operationName, query) => {
    const client = talk(`${app.url}/graphql`, ['graphql-transport-ws']);
    await client.open;
    const answered = Promise.withResolvers<string>();
    client.socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(String(data));
      if (type === 'connection_ack') client.send({ type: 'subscribe', id: '1', payload: { query, operationName } });
      if (type === 'next' || type === 'error') answered.resolve(String(data));
    });
    client.send({ type: 'connection_init', payload: { Authorization: `Bearer ${credential}` } });
    const said = await answered.promise;
    client.socket.close();
    return said;
  },
};

test.each(Object.keys(endpoints))('%s: an empty operationName is none', async (endpoint) => {
  const send = endpoints[endpoint]!;
  expect(await send('', query)).toContain('{"me":{"tier":"pro"}}');
  expect(await send('Own', query)).toContain('{"me":{"tier":"pro"}}');
  expect(await send('Other', query)).not.toContain('pro');
  expect(await send('', `${query} query More { me { tier } }`)).not.toContain('pro');
});
