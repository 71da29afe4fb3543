import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const field = 'quotes(symbols: ["SPY"])';
const documents = {
  'a field with @skip': `subscription { ${field} @skip(if: true) { spot } }`,
  'a field with @include': `subscription { ${field} @include(if: true) { spot } }`,
  'an inline fragment': `subscription { ... @include(if: false) { ${field} { spot } } }`,
  'a fragment': `subscription { ...F } fragment F on Subscription { ...G } fragment G on Subscription { ${field} @skip(if: true) { spot } }`,
  'a fragment that leads to itself': `subscription { ...F } fragment F on Subscription { ...F ${field} @skip(if: true) { spot } }`,
};

test.each(Object.entries(documents))(
  'a subscription whose root depends on a condition is refused: %s',
  async (_, query) => {
    const headers = { accept: 'text/event-stream' };
    const answer = await app.send('POST', '/graphql', { body: JSON.stringify({ query }), headers });
    const { errors } = JSON.parse(/^data: (.+)$/m.exec(answer.bytes.toString())![1]!);
    for (const { extensions } of errors) expect(extensions.code).toBe('invalid_params');
    expect(errors.length).toBeGreaterThan(0);
  },
);
