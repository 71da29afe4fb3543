import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const query = '{ me { accountId kind keyId tier siteTier apiTier classification attested } }';

test('a key sees its account, its id and both tiers, and is served under the API tier', async () => {
  const credential = await app.key({ siteTier: 'basic', apiTier: 'pro', classification: 'professional' });
  const { data } = await app.graphql(query, {}, { credential });
  expect(data.me).toEqual({
    accountId: expect.stringMatching(/^account-/),
    kind: 'key',
    keyId: expect.stringMatching(/./),
    tier: 'pro',
    siteTier: 'basic',
    apiTier: 'pro',
    classification: 'professional',
    attested: false,
  });
});

test('a session is served under the site tier', async () => {
  const credential = await app.session({ siteTier: 'basic', apiTier: 'free' });
  const { data } = await app.graphql(query, {}, { credential });
  expect(data.me).toMatchObject({
    kind: 'session',
    keyId: null,
    tier: 'basic',
    siteTier: 'basic',
    apiTier: 'free',
    classification: 'non_professional',
    attested: true,
  });
});

test('the tier of its keys costs no more than any other value, under however many names', async () => {
  const credential = await app.session();
  const pointsOf = async (field: string) => {
    const names = Array.from({ length: 90 }, (_, i) => `name${i}: ${field}`).join(' ');
    return (await app.graphql(`{ me { ${names} } }`, {}, { credential })).extensions.cost;
  };
  const { requested, actual } = await pointsOf('siteTier');
  expect(await pointsOf('apiTier')).toMatchObject({ requests: 1, requested, actual });
});

test('there is no caller without a credential', async () => {
  const { errors, answer } = await app.graphql(query, {}, { credential: null });
  expect(answer.status).toBe(401);
  expect(errors).toMatchObject([{ extensions: { code: 'unauthenticated' } }]);
});
