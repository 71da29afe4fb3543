import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxLiveKeys } from '../../../src/access/identity/api-keys.ts';
import { type TestApp, testApp } from '../../support/app.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
});
afterAll(() => app.close());

const path = '/v2/account/keys';
const create = (credential: string, body?: unknown) =>
  app.send('POST', path, { credential, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
const list = async (credential: string) => (await app.get(path, { credential })).body.data;

describe('POST /v2/account/keys', () => {
  test('makes a key that works, shown once, under the API tier', async () => {
    const session = await app.session({ siteTier: 'free', apiTier: 'basic' });
    const { status, body, headers } = await create(session, { name: 'laptop' });
    expect(status).toBe(200);
    const { key } = body.data;
    expect(key).toMatch(/^tg_live_[0-9A-Za-z]{26}_[0-9A-Za-z]{6}$/);
    expect(body).toEqual({
      data: {
        key,
        meta: {
          id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
          name: 'laptop',
          tier: 'basic',
          prefix: key.slice(0, 12),
          created_at: nowMs,
          last_used_at: null,
          revoked: false,
        },
      },
      meta: { caps: { applied: [], tier: 'free', flow: false }, plane: 'registry' },
    });
    expect(headers['cache-control']).toBe('no-store');
    const used = await app.get('/v2/account/usage', { credential: key });
    expect([used.status, used.body.meta.caps.tier]).toEqual([200, 'basic']);
    const listed = await app.get(path, { credential: session });
    expect(listed.bytes.toString()).not.toContain(key);
    expect(listed.bytes.toString()).not.toContain(key.slice(13));
  });

  test.each([
    ['no body', undefined],
    ['an empty object', {}],
    ['a null name', { name: null }],
    ['an empty name', { name: '' }],
  ])('with %s gives it a name', async (_what, body) => {
    const answer = await create(await app.session(), body);
    expect([answer.status, answer.body.data.meta.name]).toEqual([200, 'API key']);
  });

  test.each([
    ['name', { name: 5 }],
    ['name', { name: ['a'] }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'a\u0000b' }],
    ['body', []],
    ['body', 'laptop'],
  ])('with a bad %s is a 400 that names it (%j)', async (name, body) => {
    const session = await app.session();
    const answer = await create(session, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_params']);
    expect(answer.body.error.message).toMatch(new RegExp(`^${name}: `));
    expect(await list(session)).toEqual([]);
  });

  test.each([null, 'professional'] as const)('declared %s is 403 attestation_required', async (classification) => {
    const session = await app.session({ classification });
    const { status, body } = await create(session);
    expect([status, body.error.code]).toEqual([403, 'attestation_required']);
    expect(await list(session)).toEqual([]);
  });

  test('beyond 25 live keys is refused; revoking one makes room', async () => {
    const session = await app.session();
    for (let i = 0; i < maxLiveKeys; i++) expect((await create(session)).status).toBe(200);
    const full = await create(session);
    expect([full.status, full.body.error.code]).toEqual([400, 'invalid_params']);
    const [first] = await list(session);
    await app.send('DELETE', `${path}/${first.id}`, { credential: session });
    expect((await create(session)).status).toBe(200);
  });
});

describe('GET /v2/account/keys', () => {
  test('lists the keys of the account, oldest first, without secrets, revoked ones too', async () => {
    const session = await app.session();
    expect(await list(session)).toEqual([]);
    const made = [];
    for (const name of ['one', 'two']) {
      app.clock.nowMs += 1;
      made.push((await create(session, { name })).body.data.meta);
    }
    app.clock.nowMs = nowMs;
    expect(await list(session)).toEqual(made);
    await app.send('DELETE', `${path}/${made[0].id}`, { credential: session });
    const { body } = await app.get(path, { credential: session });
    expect(body.data).toEqual([{ ...made[0], revoked: true }, made[1]]);
    expect(body.meta).toEqual({ caps: { applied: [], tier: 'pro', flow: true }, plane: 'registry' });
    expect(await list(await app.session())).toEqual([]);
  });

  test('says when a key was last used', async () => {
    const session = await app.session();
    const { key } = (await create(session)).body.data;
    await app.get('/v2/symbols', { credential: key });
    await expect.poll(async () => (await list(session))[0].last_used_at, { timeout: 10_000 }).toBe(nowMs);
  });
});

describe('DELETE /v2/account/keys/{id}', () => {
  test('stops a key at once', async () => {
    const session = await app.session();
    const { key, meta } = (await create(session)).body.data;
    expect((await app.get('/v2/symbols', { credential: key })).status).toBe(200);
    const { status, body } = await app.send('DELETE', `${path}/${meta.id}`, { credential: session });
    expect([status, body]).toEqual([
      200,
      {
        data: { revoked: meta.id },
        meta: { caps: { applied: [], tier: 'pro', flow: true }, plane: 'registry' },
      },
    ]);
    const refused = await app.get('/v2/symbols', { credential: key });
    expect([refused.status, refused.body.error.code]).toEqual([401, 'unauthenticated']);
  });

  test("is 404 for a key that is revoked, unknown or another's, which goes on working", async () => {
    const [session, other] = [await app.session(), await app.session()];
    const { key, meta } = (await create(session)).body.data;
    const remove = (credential: string, id: string) => app.send('DELETE', `${path}/${id}`, { credential });
    for (const answer of [await remove(other, meta.id), await remove(session, 'nope')]) {
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    }
    const unreadable = await remove(session, '%00');
    expect([unreadable.status, unreadable.body.error.code]).toEqual([400, 'invalid_params']);
    expect((await app.get('/v2/symbols', { credential: key })).status).toBe(200);
    expect((await remove(session, meta.id)).status).toBe(200);
    expect((await remove(session, meta.id)).status).toBe(404);
  });
});

describe('the keys routes', () => {
  test('are for people: an API key gets 403 not_entitled_tier, no credential 401', async () => {
    const key = await app.key();
    for (const [method, at] of [
      ['GET', path],
      ['POST', path],
      ['DELETE', `${path}/x`],
    ] as const) {
      const refused = await app.send(method, at, { credential: key });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'not_entitled_tier']);
      const unknown = await app.send(method, at, { credential: null });
      expect([unknown.status, unknown.body.error.code]).toEqual([401, 'unauthenticated']);
    }
  });

  test('are the same in the graph', async () => {
    const session = await app.session();
    const { data, errors } = await app.graphql(
      'mutation { createKey(name: "graph") { created { key info { id name tier prefix createdAt lastUsedAt expiresAt revoked } } meta { caps { flow } } } }',
      {},
      { credential: session },
    );
    expect(errors).toBeUndefined();
    const { key, info } = data.createKey.created;
    expect(info).toMatchObject({ name: 'graph', tier: 'pro', createdAt: nowMs, lastUsedAt: null, expiresAt: null });
    expect((await app.get('/v2/symbols', { credential: key })).status).toBe(200);
    const query = '{ me { keys { id name revoked } accountId } }';
    expect((await app.graphql(query, {}, { credential: session })).data.me.keys).toEqual([
      { id: info.id, name: 'graph', revoked: false },
    ]);
    const revoke = 'mutation Revoke($id: ID!) { revokeKey(id: $id) { revoked } }';
    const twice = [];
    for (let i = 0; i < 2; i++) twice.push(await app.graphql(revoke, { id: info.id }, { credential: session }));
    expect(twice[0]!.data.revokeKey).toEqual({ revoked: info.id });
    expect(twice[1]!.data).toEqual({ revokeKey: null });
    expect(twice[1]!.errors?.[0]).toMatchObject({ path: ['revokeKey'], extensions: { code: 'not_found' } });
    expect((await app.get('/v2/symbols', { credential: key })).status).toBe(401);
  });

  test('refuse an API key in the graph too, each at its path, and the rest stands', async () => {
    const key = await app.key();
    const { data, errors } = await app.graphql('{ me { keys { id } attested } }', {}, { credential: key });
    expect(data).toEqual({ me: { keys: null, attested: true } });
    expect(errors).toEqual([
      expect.objectContaining({ path: ['me', 'keys'], extensions: { code: 'not_entitled_tier' } }),
    ]);
    const made = await app.graphql(
      'mutation { createKey { created { key } } revokeKey(id: "x") { revoked } classify(classification: non_professional) { declaration { attested } } }',
      {},
      { credential: key },
    );
    expect(made.data).toEqual({
      createKey: null,
      revokeKey: null,
      classify: { declaration: { attested: true } },
    });
    expect(made.errors?.map((error) => [error.path[0], error.extensions.code])).toEqual([
      ['createKey', 'not_entitled_tier'],
      ['revokeKey', 'not_entitled_tier'],
    ]);
    expect(made.extensions.cost).toMatchObject({ requests: 3, requested: 28 });
  });
});
