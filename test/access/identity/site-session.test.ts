import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSiteSession, jwksVerifier, secretVerifier } from '../../../src/access/identity/site-session.ts';
import { Failure } from '../../../src/platform/wire/failure.ts';

const secret = 'a secret of more than thirty-two bytes';
const bytes = new TextEncoder().encode(secret);
const at = Date.UTC(2026, 10, 20, 15);
const now = () => at;
const inOneHour = at / 1000 + 3600;

const sign = (claims: Record<string, unknown>, key: Uint8Array = bytes, alg = 'HS256') =>
  new SignJWT(claims).setProtectedHeader({ alg }).sign(key);

describe('a session token signed with the shared secret', () => {
  const verify = secretVerifier(secret, now);

  it('names its account until it expires, to the second', async () => {
    const token = await createSiteSession(secret, 'ana', 60_000, now);
    expect(await verify(token)).toEqual({ state: 'ok', accountId: 'ana' });
    expect(await secretVerifier(secret, () => at + 59_999)(token)).toEqual({ state: 'ok', accountId: 'ana' });
    expect(await secretVerifier(secret, () => at + 60_000)(token)).toEqual({ state: 'expired' });
  });

  it('that was good before expires all the same, and is not good before its time', async () => {
    let ms = at;
    const sameVerifier = secretVerifier(secret, () => ms);
    const token = await sign({ sub: 'ana', exp: at / 1000 + 60, nbf: at / 1000 });
    for (const [later, state] of [
      [0, 'ok'],
      [59_999, 'ok'],
      [60_000, 'expired'],
      [30_000, 'ok'],
      [-1, 'invalid'],
    ] as const) {
      ms = at + later;
      expect([later, (await sameVerifier(token)).state]).toEqual([later, state]);
    }
  });

  it('is invalid, not expired, when an expired one carries a wrong signature', async () => {
    const token = await createSiteSession('another secret of more than 32 bytes', 'ana', -60_000, now);
    expect(await verify(token)).toEqual({ state: 'invalid' });
  });

  it.each([
    ['no sub', { exp: inOneHour }],
    ['an empty sub', { sub: '', exp: inOneHour }],
    ['a sub that is no text', { sub: 7, exp: inOneHour }],
    ['a sub the store cannot hold', { sub: 'a\u0000b', exp: inOneHour }],
    ['a sub that is too long', { sub: 'x'.repeat(129), exp: inOneHour }],
    ['no exp', { sub: 'ana' }],
    ['an exp that is no number', { sub: 'ana', exp: `${inOneHour}` }],
    ['an nbf in the future', { sub: 'ana', exp: inOneHour, nbf: inOneHour - 60 }],
    ['an nbf that is no number', { sub: 'ana', exp: inOneHour, nbf: 'now' }],
    ['an iat in the future that would make a long life short', { sub: 'ana', exp: 1e12, iat: 1e12 - 60 }],
    ['an iat that is no number', { sub: 'ana', exp: inOneHour, iat: 'now' }],
    ['an exp beyond all time', { sub: 'ana', exp: 1e300 }],
    ['an exp beyond the longest life', { sub: 'ana', exp: at / 1000 + 30 * 86_400 + 1 }],
    ['a life too long, of which little is left', { sub: 'ana', exp: inOneHour, iat: inOneHour - 30 * 86_400 - 1 }],
  ])('is invalid with %s', async (_, claims) => {
    expect(await verify(await sign(claims))).toEqual({ state: 'invalid' });
  });

  it.each([
    ['the longest life', { exp: at / 1000 + 30 * 86_400 }],
    ['an exp within a second', { exp: at / 1000 + 0.5 }],
    ['an iat of a clock that is ahead', { exp: inOneHour, iat: at / 1000 + 600 }],
    ['an iat within a second', { exp: inOneHour, iat: at / 1000 - 0.25 }],
  ])('is good with %s', async (_, claims) => {
    expect(await verify(await sign({ sub: 'ana', ...claims }))).toEqual({ state: 'ok', accountId: 'ana' });
  });

  it('lives no longer than the setting says', async () => {
    const brief = secretVerifier(secret, now, { issuer: null, audience: null, maxLifeMs: 60_000 });
    expect((await brief(await createSiteSession(secret, 'ana', 60_000, now))).state).toBe('ok');
    expect((await brief(await createSiteSession(secret, 'ana', 61_000, now))).state).toBe('invalid');
  });

  it('is invalid without a signature or with another algorithm', async () => {
    const claims = { sub: 'ana', exp: inOneHour };
    expect(await verify(new UnsecuredJWT(claims).encode())).toEqual({ state: 'invalid' });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const bits of [256, 384, 512]) {
      const signed = `${part({ alg: `HS${bits}` })}.${part(claims)}`;
      const token = `${signed}.${createHmac(`sha${bits}`, secret).update(signed).digest('base64url')}`;
      expect((await verify(token)).state).toBe(bits === 256 ? 'ok' : 'invalid');
    }
  });

  it('is invalid when any character was changed', async () => {
    const token = await createSiteSession(secret, 'ana', 60_000, now);
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 2), fc.constantFrom(...'AQgw_-.~ \u0000é'), async (i, other) => {
        fc.pre(token[i] !== other);
        expect(await verify(token.slice(0, i) + other + token.slice(i + 1))).toEqual({ state: 'invalid' });
      }),
    );
  });

  it('is invalid when it is anything else', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.base64String(), { maxLength: 5 }).map((p) => p.join('.')),
    );
    await fc.assert(fc.asyncProperty(text, async (token) => (await verify(token)).state === 'invalid'));
    for (const header of [
      'null',
      '[]',
      '7',
      '{}',
      '{"alg":null}',
      '{"alg":"HS256","crit":["b64"],"b64":false}',
      '{"alg":["HS256"]}',
    ]) {
      expect(await verify(`${btoa(header)}.${btoa('{"sub":"ana"}')}.AAAA`)).toEqual({ state: 'invalid' });
    }
  });
});

describe('a session token of a server that names issuer and audience', () => {
  const claims = { issuer: 'https://id.example', audience: 'tapegraph', maxLifeMs: 3_600_000 };
  const verify = secretVerifier(secret, now, claims);
  const own = { iss: claims.issuer, aud: claims.audience, sub: 'ana', exp: inOneHour };

  it('is good when it was made here, or names both', async () => {
    expect(await verify(await createSiteSession(secret, 'ana', 60_000, now, claims))).toMatchObject({ state: 'ok' });
    expect(await verify(await sign({ ...own, aud: ['others', 'tapegraph'] }))).toMatchObject({ state: 'ok' });
  });

  it.each([
    ['no issuer', { iss: undefined }],
    ['another issuer', { iss: 'https://id.example/' }],
    ['no audience', { aud: undefined }],
    ['another audience', { aud: 'billing' }],
    ['another audience, and expired', { aud: 'billing', exp: at / 1000 - 60 }],
    ['an empty list of audiences', { aud: [] }],
  ])('is invalid with %s', async (_, change) => {
    expect(await verify(await sign({ ...own, ...change }))).toEqual({ state: 'invalid' });
  });
});

describe('a session token checked against published keys', () => {
  let server: Server;
  let url: string;
  let answer: { status: number; body: unknown; location?: string };
  let asked = 0;
  const addresses: string[] = [];
  type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
  const pairs: Record<string, Pair> = {};

  beforeAll(async () => {
    for (const alg of ['RS256', 'ES256', 'EdDSA', 'PS256'])
      pairs[alg] = await generateKeyPair(alg, { extractable: true });
    const keys = await Promise.all(
      Object.entries(pairs).map(async ([alg, { publicKey }]) => {
        const jwk = await exportJWK(publicKey);
        // The RSA key is published without its algorithm, as many sites do.
        return alg === 'RS256' ? { ...jwk, kid: alg } : { ...jwk, kid: alg, alg };
      }),
    );
    answer = { status: 200, body: { keys } };
    server = createServer((request, response) => {
      asked += 1;
      addresses.push(request.url!);
      if (answer.location) response.setHeader('location', answer.location);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const signWith = (alg: string, key: Pair['privateKey'] | Uint8Array, kid: string) =>
    new SignJWT({ sub: 'ana', exp: inOneHour }).setProtectedHeader({ alg, kid }).sign(key);

  it.each(['RS256', 'ES256', 'EdDSA'])('is accepted with %s', async (alg) => {
    const token = await signWith(alg, pairs[alg]!.privateKey, alg);
    expect(await jwksVerifier(url, now)(token)).toEqual({ state: 'ok', accountId: 'ana' });
    expect(await jwksVerifier(url, () => at + 3_600_000)(token)).toEqual({ state: 'expired' });
  });

  it('is refused when it was made for another service of the same provider', async () => {
    const verify = jwksVerifier(url, now, { issuer: null, audience: 'tapegraph', maxLifeMs: 3_600_000 });
    const token = (aud: string) =>
      new SignJWT({ sub: 'ana', exp: inOneHour, aud })
        .setProtectedHeader({ alg: 'ES256', kid: 'ES256' })
        .sign(pairs.ES256!.privateKey);
    expect(await verify(await token('tapegraph'))).toEqual({ state: 'ok', accountId: 'ana' });
    expect(await verify(await token('billing'))).toEqual({ state: 'invalid' });
  });

  it('is refused with an algorithm that was not agreed on', async () => {
    const token = await signWith('PS256', pairs.PS256!.privateKey, 'PS256');
    expect(await jwksVerifier(url, now)(token)).toEqual({ state: 'invalid' });
  });

  it('is refused when a public key was used as a secret (algorithm confusion)', async () => {
    const verify = jwksVerifier(url, now);
    const { publicKey } = pairs.RS256!;
    const jwk = await exportJWK(publicKey);
    for (const guess of [await exportSPKI(publicKey), JSON.stringify(jwk), jwk.n!]) {
      const token = await signWith('HS256', new TextEncoder().encode(guess), 'RS256');
      expect(await verify(token)).toEqual({ state: 'invalid' });
    }
    expect(await verify(new UnsecuredJWT({ sub: 'ana', exp: inOneHour }).encode())).toEqual({ state: 'invalid' });
  });

  it.each([
    '../../../../../../dev/null',
    '/etc/passwd',
    'http://127.0.0.1/keys',
    "x' OR '1'='1",
    '__proto__',
    'constructor',
    'x'.repeat(10_000),
    '\u0000',
    '',
  ])('of a stranger cannot choose its key by a kid: %#', async (kid) => {
    const stranger = await generateKeyPair('ES256');
    const token = await signWith('ES256', stranger.privateKey, kid);
    expect(await jwksVerifier(url, now)(token)).toEqual({ state: 'invalid' });
    // An empty secret is what a key read from an empty file would be.
    const empty = `${Buffer.from(JSON.stringify({ alg: 'HS256', kid })).toString('base64url')}.${token.split('.')[1]}`;
    const signature = createHmac('sha256', '').update(empty).digest('base64url');
    expect(await jwksVerifier(url, now)(`${empty}.${signature}`)).toEqual({ state: 'invalid' });
  });

  it('is checked against the published keys alone, whatever keys and addresses it brings', async () => {
    const stranger = await generateKeyPair('ES256', { extractable: true });
    const own = { ...(await exportJWK(stranger.publicKey)), kid: 'own', alg: 'ES256' };
    const elsewhere = url.replace('jwks.json', 'elsewhere.json');
    addresses.length = 0;
    for (const brought of [{ jwk: own }, { jku: elsewhere }, { x5u: elsewhere }, { x5c: ['MIIB'] }]) {
      for (const kid of ['own', 'ES256']) {
        const token = await new SignJWT({ sub: 'ana', exp: inOneHour })
          .setProtectedHeader({ alg: 'ES256', kid, ...brought })
          .sign(stranger.privateKey);
        expect(await jwksVerifier(url, now)(token)).toEqual({ state: 'invalid' });
      }
    }
    expect(new Set(addresses)).toEqual(new Set(['/jwks.json']));
  });

  it('is refused when signed by a stranger, and strangers do not make the keys be fetched over and over', async () => {
    const verify = jwksVerifier(url, now);
    const stranger = (await generateKeyPair('ES256')).privateKey;
    asked = 0;
    for (const kid of ['ES256', 'a', 'b', 'c', 'd']) {
      expect(await verify(await signWith('ES256', stranger, kid))).toEqual({ state: 'invalid' });
    }
    expect(asked).toBe(1);
  });

  it('is neither good nor bad while the keys cannot be had: 502', async () => {
    const token = await signWith('ES256', pairs.ES256!.privateKey, 'ES256');
    const good = answer;
    for (const bad of [
      { status: 500, body: {} },
      { status: 200, body: 'nonsense' },
      { status: 302, body: good.body, location: '/elsewhere.json' },
      { status: 307, body: good.body, location: 'http://127.0.0.1:9/jwks.json' },
      { status: 200, body: { ...(good.body as object), padding: 'x'.repeat(256 * 1024) } },
    ]) {
      addresses.length = 0;
      answer = bad;
      const failure = await jwksVerifier(url, now)(token).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Failure);
      expect((failure as Failure).status).toBe(502);
      expect(addresses).toEqual(['/jwks.json']);
    }
    answer = good;
    const refused = await jwksVerifier('http://127.0.0.1:9/', now)(token).catch((error: unknown) => error);
    expect((refused as Failure).status).toBe(502);
  });
});
