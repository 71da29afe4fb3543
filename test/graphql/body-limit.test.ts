import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';
import { type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

/** A request of exactly `bytes` bytes, most of them in a variable. */
function request(bytes: number): string {
  const query = 'query Kind($x: String!) { __type(name: $x) { name } me { kind } }';
  const shell = JSON.stringify({ query, variables: { x: '' } });
  return JSON.stringify({ query, variables: { x: 'x'.repeat(bytes - shell.length) } });
}

describe.each([
  ['that tells its length', {}],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
] as [string, Record<string, string>][])('a body of /graphql %s', (_how, headers) => {
  test('may have 1 MiB', async () => {
    const { status, body } = await app.send('POST', '/graphql', { headers, body: request(documentLimits.bytes) });
    expect([status, body.errors, body.data.me.kind]).toEqual([200, undefined, 'key']);
  });

  test('is 413 above, in the form of a GraphQL answer', async () => {
    for (const bytes of [documentLimits.bytes + 1, 8 * documentLimits.bytes]) {
      const { status, body } = await app.send('POST', '/graphql', { headers, body: request(bytes) });
      expect([status, body.errors[0].extensions.code]).toEqual([413, 'invalid_params']);
    }
    expect((await app.graphql('{ me { kind } }')).data.me.kind).toBe('key');
  });
});

test('a client that hangs up in the middle of its body harms nobody', async () => {
  const key = await app.key();
  const { port } = new URL(app.url);
  for (const path of ['/graphql', '/v2/journal/import?import_id=half']) {
    for (const framing of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
      const socket = connect(Number(port), '127.0.0.1');
      await new Promise((resolve) => socket.once('connect', resolve));
      const type = path === '/graphql' ? 'application/json' : 'text/plain';
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n5\r\n{"que\r\n`,
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  const imports = await app.store.pool.query(`select * from journal_imports where import_id = 'half'`);
  expect(imports.rowCount).toBe(0);
  expect((await app.get('/v2/account/usage', { credential: key })).status).toBe(200);
});
