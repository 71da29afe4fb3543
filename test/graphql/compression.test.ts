import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
let key: string;
beforeAll(async () => {
  app = await testApp();
  key = await app.key();
});
afterAll(() => app.close());

// Longer than what is compressed.
const query = '{ __schema { types { name description } } }';

function ask(encoding: string | null, body: object = { query }, accept = 'application/json') {
  return app.send('POST', '/graphql', {
    credential: key,
    headers: { accept, ...(encoding === null ? {} : { 'accept-encoding': encoding }) },
    body: JSON.stringify(body),
  });
}

describe("the graph's answers", () => {
  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('come as %s to clients that take it, and are the same', async (encoding, decompress) => {
    const plain = await ask(null);
    expect(plain.headers['content-encoding']).toBe(undefined);
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const small = await ask(encoding, { query }, accept);
      expect(small.status).toBe(200);
      expect(small.headers['content-encoding']).toBe(encoding);
      expect(small.headers['content-type']).toContain(accept);
      expect(Number(small.headers['content-length'])).toBe(small.bytes.length);
      expect(small.bytes.length * 3).toBeLessThan(plain.bytes.length);
      expect(decompress(small.bytes).toString()).toBe(plain.bytes.toString());
    }
  });

  test('take the preferred one, and none where the client takes none or the answer is small', async () => {
    expect((await ask('br, gzip')).headers['content-encoding']).toBe('br');
    expect((await ask('gzip, deflate, br')).headers['content-encoding']).toBe('gzip');
    expect((await ask('br;q=0.1, gzip')).headers['content-encoding']).toBe('gzip');
    for (const none of ['identity', 'br;q=0, identity', 'zstd'])
      expect((await ask(none)).headers['content-encoding']).toBe(undefined);
    const small = await ask('br', { query: '{ __typename }' });
    expect([small.headers['content-encoding'], small.bytes.toString()]).toEqual([
      undefined,
      '{"data":{"__typename":"Query"}}',
    ]);
  });

  test('are compressed where they are errors too', async () => {
    const query = `{ ${'a'.repeat(700)} ${'b'.repeat(700)} }`;
    const failed = await ask('gzip', { query }, 'application/graphql-response+json');
    expect(failed.status).toBe(400);
    expect(failed.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(failed.bytes).toString()).errors.length).toBeGreaterThan(0);
  });
});
