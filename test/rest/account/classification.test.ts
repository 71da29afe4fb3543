import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../support/app.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
beforeAll(async () => {
  app = await testApp({ nowMs });
});
afterAll(() => app.close());

const path = '/v2/account/classification';
const declare = (credential: string, classification: unknown) =>
  app.send('POST', path, { credential, body: JSON.stringify({ classification }) });
const undeclared = () => app.session({ siteTier: 'pro', classification: null });

describe('GET /v2/account/classification', () => {
  test('of an account that declared nothing has no classification, submitted_at or locked', async () => {
    const { status, body, headers } = await app.get(path, { credential: await undeclared() });
    expect(status).toBe(200);
    expect(body).toEqual({
      data: { attested: false },
      meta: { caps: { applied: [], tier: 'pro', flow: false }, plane: 'registry' },
    });
    expect(headers['cache-control']).toBe('private');
  });

  test('tells what was declared and when, to keys and sessions of any tier', async () => {
    for (const credential of [await app.key({ apiTier: 'free' }), await app.session({ siteTier: 'free' })]) {
      const { body } = await app.get(path, { credential });
      expect(body.data).toEqual({ attested: true, classification: 'non_professional', submitted_at: nowMs });
    }
  });

  test('is 401 without a credential', async () => {
    for (const method of ['GET', 'POST']) {
      const { status, body } = await app.send(method, path, { credential: null });
      expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
    }
  });
});

describe('POST /v2/account/classification', () => {
  test('attests, at once and for what comes after', async () => {
    const credential = await undeclared();
    const before = await app.get('/v2/stocks/XSP/bars?from=2026-11-18&to=2026-11-19', { credential });
    expect([before.status, before.body.error.code]).toEqual([403, 'attestation_required']);
    const { status, body, headers } = await declare(credential, 'non_professional');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: { attested: true, classification: 'non_professional', submitted_at: nowMs },
      meta: { caps: { applied: [], tier: 'pro', flow: true }, plane: 'registry' },
    });
    expect(headers['cache-control']).toBe('no-store');
    expect((await app.get('/v2/stocks/XSP/bars?from=2026-11-18&to=2026-11-19', { credential })).status).toBe(200);
    expect((await app.get(path, { credential })).body).toEqual(body);
  });

  test('of the same again changes nothing, not even the time', async () => {
    const credential = await undeclared();
    await declare(credential, 'non_professional');
    app.clock.nowMs += 60_000;
    const { status, body } = await declare(credential, 'non_professional');
    app.clock.nowMs = nowMs;
    expect([status, body.data.submitted_at]).toEqual([200, nowMs]);
  });

  test('of professional is final: a later non_professional answers 200, unchanged and locked', async () => {
    const credential = await app.session({ classification: 'non_professional' });
    const locked = { attested: false, classification: 'professional', submitted_at: nowMs + 1000, locked: true };
    app.clock.nowMs = nowMs + 1000;
    const first = await declare(credential, 'professional');
    expect([first.status, first.body.data, first.body.meta.caps.flow]).toEqual([200, locked, false]);
    app.clock.nowMs = nowMs + 2000;
    const later = await declare(credential, 'non_professional');
    app.clock.nowMs = nowMs;
    expect([later.status, later.body.data]).toEqual([200, locked]);
    expect((await app.get(path, { credential })).body.data).toEqual(locked);
  });

  test('with an API key is the same', async () => {
    const { status, body } = await declare(await app.key({ classification: null }), 'non_professional');
    expect([status, body.data.attested]).toEqual([200, true]);
  });

  test.each([
    ['classification', '{}'],
    ['classification', '{"classification":null}'],
    ['classification', '{"classification":"amateur"}'],
    ['classification', '{"classification":"Professional"}'],
    ['classification', '{"classification":["professional"]}'],
    ['body', '[]'],
    ['body', 'null'],
    ['body', '"professional"'],
    ['body', '{'],
    ['body', 'classification=professional'],
    ['body', ''],
    ['body', Buffer.from([0x22, 0xff, 0x22])],
  ])('of something else is a 400 that names %s (%s)', async (name, body) => {
    const credential = await undeclared();
    const answer = await app.send('POST', path, { credential, body });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_params']);
    expect(answer.body.error.message).toMatch(new RegExp(`^${name}: `));
    expect((await app.get(path, { credential })).body.data).toEqual({ attested: false });
  });

  test('passes over other fields', async () => {
    const body = '{"classification":"non_professional","locked":true,"attested":false}';
    const { status, body: answer } = await app.send('POST', path, { credential: await undeclared(), body });
    expect([status, answer.data.attested]).toEqual([200, true]);
  });

  test('is 415 as another content type, 413 when large, 405 under another method', async () => {
    const credential = await undeclared();
    const form = await app.send('POST', path, { credential, body: '{}', contentType: 'text/plain' });
    expect([form.status, form.body.error.code]).toEqual([415, 'invalid_params']);
    const large = await app.send('POST', path, { credential, body: JSON.stringify({ x: 'x'.repeat(70_000) }) });
    expect([large.status, large.body.error.code]).toEqual([413, 'invalid_params']);
    const put = await app.send('PUT', path, { credential, body: '{}' });
    expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  });
});

describe('the declaration in the graph', () => {
  const mutation =
    'mutation Classify($c: Classification!) { classify(classification: $c) { declaration { attested classification submittedAt locked } meta { caps { flow darkpool } } } }';

  test('is read at me and made by classify', async () => {
    const credential = await undeclared();
    const query =
      '{ me { classification attested flow offExchange declaration { attested classification submittedAt locked } } }';
    expect((await app.graphql(query, {}, { credential })).data.me).toEqual({
      classification: null,
      attested: false,
      flow: false,
      offExchange: false,
      declaration: { attested: false, classification: null, submittedAt: null, locked: null },
    });
    const { data, errors } = await app.graphql(mutation, { c: 'non_professional' }, { credential });
    expect(errors).toBeUndefined();
    expect(data.classify).toEqual({
      declaration: { attested: true, classification: 'non_professional', submittedAt: nowMs, locked: null },
      meta: { caps: { flow: true, darkpool: null } },
    });
    expect((await app.graphql(query, {}, { credential })).data.me).toMatchObject({
      attested: true,
      flow: true,
      offExchange: true,
      declaration: { classification: 'non_professional' },
    });
  });

  test('holds for the fields after it in the same request', async () => {
    const { data, errors } = await app.graphql(
      'mutation { classify(classification: non_professional) { meta { caps { flow } } } createKey(name: "next") { created { info { name } } } }',
      {},
      { credential: await undeclared() },
    );
    expect(errors).toBeUndefined();
    expect(data.createKey.created.info.name).toBe('next');
  });

  test('needs a credential, and a value that there is', async () => {
    const none = await app.graphql(mutation, { c: 'professional' }, { credential: null });
    expect([none.answer.status, none.errors?.[0].extensions.code]).toEqual([401, 'unauthenticated']);
    const wrong = await app.graphql(mutation, { c: 'amateur' });
    expect(wrong.errors?.[0].extensions.code).toBe('invalid_params');
  });

  test('a mutation over GET is refused and changes nothing', async () => {
    const credential = await undeclared();
    const query = 'mutation { classify(classification: non_professional) { declaration { attested } } }';
    const { status, headers, body } = await app.get(`/graphql?query=${encodeURIComponent(query)}`, { credential });
    expect([status, headers.allow, body.errors[0].extensions.code]).toEqual([405, 'POST', 'invalid_params']);
    expect((await app.get(path, { credential })).body.data).toEqual({ attested: false });
  });
});
