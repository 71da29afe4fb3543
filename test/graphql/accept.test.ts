import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptedTypes } from '../../src/graphql/accept.ts';
import { type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const json = 'application/json';
const responseJson = 'application/graphql-response+json';
const events = 'text/event-stream';

// RFC 9110, 12.5.1: the most specific range of a type has its weight; 0 is not acceptable.
test.each<[header: string, answered: string]>([
  ['*/*', json],
  [json, json],
  [responseJson, responseJson],
  [`${json};q=0.1, ${responseJson}`, responseJson],
  [`${responseJson};q=0.1, ${json}`, json],
  [`${responseJson};q=0.1,${json};q=0.09`, responseJson],
  [`${json}; Q=0 , ${responseJson}; q=0.001`, responseJson],
  [`${json};q=0, */*`, responseJson],
  [`application/*;q=0.2, ${responseJson};q=0.9`, responseJson],
  [`${responseJson};q=0, application/*`, json],
  [`*/*;q=0.9, ${responseJson};q=0.1`, json],
  [`${responseJson}, ${json}`, responseJson],
  [`${json}, ${responseJson}`, json],
  [`text/html, ${responseJson};q=0.2`, responseJson],
  [`${json};charset=utf-8;q=0.3, ${responseJson};charset=latin1`, json],
  [`${events};q=0.1, ${json};q=0.2`, json],
  [`${events}, ${json}`, json],
  [`${json};q=0.5, ${events}`, events],
  [events, events],
  // None of what is served: JSON, as at REST routes.
  ['image/png', json],
  [`${json};q=0, image/png`, json],
  [`${json};q=2`, json],
  ['', json],
])('a query with Accept: %s is answered as %s', async (accept, answered) => {
  const credential = await app.key();
  const answer = await app.send('POST', '/graphql', {
    headers: { accept },
    body: '{"query":"{ me { tier } }"}',
    credential,
  });
  expect([answer.status, answer.headers['content-type']!.split(';')[0]]).toEqual([200, answered]);
  // A browser that asks for a page gets GraphiQL.
  if (accept.includes('text/html')) return;
  const page = await app.get('/graphql?query={__typename}', { headers: { accept }, credential });
  expect(page.headers['content-type']!.split(';')[0]).toBe(answered);
});

test.each<[header: string, accepted: string[]]>([
  ['*/*', [json, events]],
  [`*/*, ${events};q=0`, [json]],
  ['text/*', [events]],
  [`${events};q=0.1, ${json}`, [json, events]],
  [`${json};q=0, ${events};q=0`, []],
  ['nonsense', []],
])('%s accepts %j', (header, accepted) => {
  expect(acceptedTypes(header)).toEqual(accepted);
});

test('GraphiQL opens for who prefers a page', async () => {
  const typeOf = async (accept: string) => {
    const { headers } = await app.get('/graphql?query={__typename}', { headers: { accept } });
    return headers['content-type']!.split(';')[0];
  };
  expect(await typeOf('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')).toBe('text/html');
  expect(await typeOf('text/html;q=0.1, application/json')).toBe(json);
  expect(await typeOf('text/html;q=0, application/json')).toBe(json);
});

test('OPTIONS /graphql names GET and POST', async () => {
  for (const accept of ['*/*', 'text/html']) {
    const { headers, status } = await app.send('OPTIONS', '/graphql', { credential: null, headers: { accept } });
    expect(status).toBe(204);
    expect(headers.allow!.split(', ')).toEqual(['GET', 'HEAD', 'POST']);
  }
});
