import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '../../src/access/identity/api-keys.ts';
import { createSiteSession } from '../../src/access/identity/site-session.ts';
import type { Classification, Tier } from '../../src/platform/config/tiers.ts';
import type { SymbolRule } from '../../src/rest/contract/route.ts';
import type { Needs } from '../../src/schema/field-options.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs } from '../support/filled-market.ts';
import { type Talk, talk } from '../support/web-socket.ts';
import { about, type KnownRoute, knownRoutes } from './known-routes.ts';

// The rules once more, from the contract alone. A route declares which rule it has (routes.txt); nothing of src/access
// is asked what a rule allows.

/** The symbols of `testSymbols`, one of each kind, as the contract sees them. */
const symbolKinds = {
  SPY: { registered: true, real: true, minTier: 'free', attestation: false },
  MSFT: { registered: true, real: true, minTier: 'basic', attestation: false },
  NVDA: { registered: true, real: true, minTier: 'pro', attestation: false },
  XSP: { registered: true, real: true, minTier: 'free', attestation: true },
  SPX: { registered: true, real: true, minTier: 'pro', attestation: true },
  ZZZ: { registered: false, real: true, minTier: 'free', attestation: false },
  QQQQ: { registered: false, real: false, minTier: 'free', attestation: false },
} as const;
type Ticker = keyof typeof symbolKinds;
const doors = ['rest', 'graphql'] as const;
type Door = (typeof doors)[number];
type Outcome =
  | 'ok'
  | 'restricted'
  | 'unauthenticated'
  | 'token_expired'
  | 'not_entitled_tier'
  | 'attestation_required'
  | 'not_found'
  | 'invalid_params';

/** Conditions that decide whether a caller is served, as a route declares them, in the order of their checks. */
interface Rule {
  needs: Needs;
  symbolRule: SymbolRule;
  listsTokenExpired?: boolean;
}

interface Who {
  name: string;
  credential: string | null;
  accountId: string;
  /** Fault of the credential; null if it is valid. */
  wrong: null | 'invalid' | 'expired';
  kind: 'key' | 'session';
  tier: Tier;
  attested: boolean;
}

const level = { free: 0, basic: 1, pro: 2 };
const statusOf: Record<Outcome, number> = {
  ok: 200,
  restricted: 200,
  unauthenticated: 401,
  token_expired: 401,
  not_entitled_tier: 403,
  attestation_required: 403,
  not_found: 404,
  invalid_params: 400,
};

function lacking(who: Who, minTier: Tier, attestation: boolean): Outcome | null {
  if (level[who.tier] < level[minTier]) return 'not_entitled_tier';
  return attestation && !who.attested ? 'attestation_required' : null;
}

function featureOutcome(who: Who, needs: Needs): Outcome | null {
  switch (needs) {
    case 'flow':
      return lacking(who, 'pro', true);
    case 'off-exchange':
      return lacking(who, 'basic', true);
    case 'site-session':
      return who.kind === 'session' ? null : 'not_entitled_tier';
    case 'declared-site-session':
      return who.kind === 'session' ? lacking(who, 'free', true) : 'not_entitled_tier';
    default:
      return null;
  }
}

function symbolOutcome(who: Who, rule: SymbolRule, ticker: Ticker): Outcome {
  const { registered, real, minTier, attestation } = symbolKinds[ticker];
  const refused = lacking(who, minTier, attestation);
  switch (rule) {
    case 'none':
      return 'ok';
    case 'entry':
      return registered ? 'ok' : 'not_found';
    case 'registered':
      return registered ? (refused ?? 'ok') : 'not_found';
    case 'known':
      return real ? (refused ?? 'ok') : 'not_found';
    case 'readable':
      return refused ?? 'ok';
    case 'row':
      return refused ? 'restricted' : 'ok';
    case 'writable':
      return registered && !refused ? 'ok' : 'invalid_params';
  }
}

/** Outcome by the contract. `/graphql` lists token_expired, some routes do. */
function expected(who: Who, rule: Rule, ticker: Ticker, door: Door): Outcome {
  if (who.wrong === 'invalid') return 'unauthenticated';
  if (who.wrong === 'expired') {
    return door === 'graphql' || rule.listsTokenExpired ? 'token_expired' : 'unauthenticated';
  }
  return featureOutcome(who, rule.needs) ?? symbolOutcome(who, rule.symbolRule, ticker);
}

let app: TestApp;
let callers: Who[] = [];

async function goodCallers(): Promise<Who[]> {
  const made: Who[] = [];
  for (const kind of ['key', 'session'] as const) {
    for (const tier of ['free', 'basic', 'pro'] as const) {
      for (const classification of ['non_professional', 'professional', null] as const) {
        made.push(await goodCaller(kind, tier, classification));
      }
    }
  }
  return made;
}

async function goodCaller(kind: Who['kind'], tier: Tier, classification: Classification | null): Promise<Who> {
  // The other endpoint gets another tier, so that a check of it shows.
  const other = tier === 'pro' ? 'free' : 'pro';
  const accountId = await app.account(
    kind === 'key'
      ? { apiTier: tier, siteTier: other, classification }
      : { apiTier: other, siteTier: tier, classification },
  );
  const credential =
    kind === 'key'
      ? (await app.access.keys.create({ accountId, name: null, expiresAt: null })).key
      : await app.access.sessions.create(accountId, 3_600_000);
  const attested = classification === 'non_professional';
  return { name: `${kind} ${tier} ${classification}`, credential, accountId, wrong: null, kind, tier, attested };
}

async function badCallers(): Promise<Who[]> {
  const accountId = await app.account();
  const { keys, sessions } = app.access;
  const soon = app.clock.nowMs + 1000;
  const good = (await keys.create({ accountId, name: null, expiresAt: null })).key;
  const revoked = await keys.create({ accountId, name: null, expiresAt: null });
  await keys.revoke(revoked.meta.id, null);
  const expiredKey = (await keys.create({ accountId, name: null, expiresAt: soon })).key;
  const expiredSession = await sessions.create(accountId, 1000);
  const token = await sessions.create(accountId, 3_600_000);
  const [, claims] = token.split('.') as [string, string];
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
  const foreign = await createSiteSession(
    'another secret, just as long as it must be',
    accountId,
    3_600_000,
    () => soon,
  );
  app.clock.nowMs += 2000;
  const bad = (name: string, credential: string | null, wrong: Who['wrong'] = 'invalid'): Who => {
    return { name, credential, accountId, wrong, kind: 'key', tier: 'pro', attested: true };
  };
  return [
    bad('no credential', null),
    bad('garbage', 'garbage'),
    bad('a key with a wrong checksum', `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`),
    bad('a key never made', generateApiKey(randomBytes).key),
    bad('a revoked key', revoked.key),
    bad('an expired key', expiredKey, 'expired'),
    bad('an expired session', expiredSession, 'expired'),
    bad('a session of another secret', foreign),
    bad('a session without a signature', unsigned),
  ];
}

beforeAll(async () => {
  app = await testApp({ nowMs: filledNowMs });
  callers = [...(await badCallers()), ...(await goodCallers())];
});
afterAll(() => app.close());

interface Cell {
  who: Who;
  ticker: Ticker;
  id: string;
}

async function overRest({ known, route }: KnownRoute, { who, ticker, id }: Cell): Promise<string> {
  const { status, body } = await app.send(route.method, about(known.path, encodeURIComponent(ticker), id), {
    credential: who.credential,
    ...(known.body === undefined ? {} : { body: about(known.body, ticker, id) }),
    ...(known.contentType ? { contentType: known.contentType } : {}),
  });
  // Elsewhere `restricted` names figures, not the symbol.
  const isRestricted = route.symbolRule === 'row' && body?.meta?.restricted;
  const outcome = body?.error?.code ?? (isRestricted ? 'restricted' : 'ok');
  return `${status} ${outcome}`;
}

async function overGraphql({ known }: KnownRoute, { who, ticker, id }: Cell): Promise<string> {
  const { data, errors } = await app.graphql(about(known.graphql, ticker, id), {}, { credential: who.credential });
  return errors?.[0]?.extensions?.code ?? ((data?.quotes ?? data?.contracts)?.meta.restricted ? 'restricted' : 'ok');
}

/** Everything that came out other than the contract says, of one caller over symbols and endpoints. */
async function surprises(
  known: KnownRoute,
  caller: Who,
  doorsOf: (ticker: number) => readonly Door[],
): Promise<string[]> {
  const { prepare, path, body = '' } = known.known;
  const tickers = Object.keys(symbolKinds) as Ticker[];
  const aboutSymbols = /\{(symbol|contract)\}/.test(path + body);
  const found: string[] = [];
  for (const [i, ticker] of (aboutSymbols ? tickers : tickers.slice(0, 1)).entries()) {
    for (const door of aboutSymbols ? doorsOf(i) : doors) {
      const fresh = known.route.name === 'classify' && caller.wrong === null;
      const who = fresh
        ? await goodCaller(caller.kind, caller.tier, caller.attested ? 'non_professional' : null)
        : caller;
      const id = prepare ? await prepare(app, who.accountId) : 'none';
      const outcome = expected(who, known.route, ticker, door);
      const wanted = door === 'rest' ? `${statusOf[outcome]} ${outcome}` : outcome;
      const got = await (door === 'rest' ? overRest : overGraphql)(known, { who, ticker, id });
      if (got !== wanted) found.push(`${door}, ${who.name}, ${ticker}: ${got}, not ${wanted}`);
    }
  }
  return found;
}

const ruleOf = ({ route: { needs, symbolRule, listsTokenExpired } }: KnownRoute) =>
  JSON.stringify({ needs, symbolRule, listsTokenExpired });

/** The first route of each rule. */
const firstOfRule = new Map(
  knownRoutes()
    .toReversed()
    .map((each) => [ruleOf(each), each.name]),
);

/**
 * All callers at both endpoints for the first route of a rule; for its other routes one of those that every rule treats
 * alike, which asks about each symbol at one endpoint: every two of caller, symbol and endpoint meet.
 */
function surprisesOf(known: KnownRoute): Promise<string[][]> {
  if (firstOfRule.get(ruleOf(known)) === known.name)
    return Promise.all(callers.map((who) => surprises(known, who, () => doors)));
  const alike = ({ wrong, kind, tier, attested }: Who) => [wrong, kind, tier, attested].join();
  const kinds = [...new Map(callers.toReversed().map((who) => [alike(who), who])).values()];
  return Promise.all(kinds.map((who, i) => surprises(known, who, (ticker) => [doors[(i + ticker) % 2]!])));
}

describe('every route, by every credential, for every kind of symbol, comes to the same over REST and GraphQL', () => {
  test.each(knownRoutes())('$name', async (known) => {
    // One caller's requests one after the other: a key may have only two in flight.
    expect((await surprisesOf(known)).flat()).toEqual([]);
  });
});

/** Requirements of each topic of the streaming channel. */
const socketTopics: Record<string, Rule> = {
  spot: { needs: 'symbol', symbolRule: 'registered' },
  stocks: { needs: 'symbol', symbolRule: 'known' },
  gex: { needs: 'symbol', symbolRule: 'readable' },
  chain: { needs: 'symbol', symbolRule: 'readable' },
};

/** Requirements of each subscription over graphql-transport-ws. */
const subscriptions: Record<string, Rule> = {
  'quotes(symbols: ["{symbol}"]) { spot }': { needs: 'symbol', symbolRule: 'readable' },
  'bars(symbol: "{symbol}") { close }': { needs: 'symbol', symbolRule: 'known' },
  'gexCaptured(symbol: "{symbol}") { netGex }': { needs: 'symbol', symbolRule: 'readable' },
  'chainCaptured(symbol: "{symbol}") { capturedAt }': { needs: 'symbol', symbolRule: 'readable' },
  'crossSection(symbol: "{symbol}") { seq }': { needs: 'flow', symbolRule: 'registered' },
  'largeTrades(symbol: "{symbol}") { seq }': { needs: 'flow', symbolRule: 'registered' },
};

async function opened(url: string, protocols: string[], hello: object): Promise<Talk> {
  const talking = talk(app.url + url, protocols);
  await talking.open;
  talking.send(hello);
  await expect.poll(() => talking.said.length, { timeout: 10_000 }).toBeGreaterThan(0);
  return talking;
}

/** Outcome of a subscription for each symbol, by its kind and symbol. */
async function overSocket(
  who: Who,
  all: Record<string, Rule>,
  talking: Talk,
  ask: (what: string, ticker: Ticker, id: string) => object,
) {
  const found: string[] = [];
  for (const [what, rule] of Object.entries(all)) {
    for (const ticker of Object.keys(symbolKinds) as Ticker[]) {
      const id = `${ticker} ${what}`;
      talking.send(ask(what, ticker, id));
      // By graphql-transport-ws a subscription that begins says nothing: its end is answered by nothing either.
      const answer = () =>
        talking.said.find((said) => said.id === id && ['ack', 'nack', 'error', 'next'].includes(said.op ?? said.type));
      const wanted = expected(who, rule, ticker, 'graphql');
      if (wanted !== 'ok') await expect.poll(answer, { timeout: 10_000 }).toBeDefined();
      const said = answer();
      const got = said?.code ?? (said?.type === 'error' ? said.payload[0].extensions.code : 'ok');
      if (got !== wanted) found.push(`${who.name}, ${id}: ${got}, not ${wanted}`);
    }
  }
  talking.socket.terminate();
  return found;
}

describe('the same over WebSockets', () => {
  test('a ticket and its topics', { timeout: 120_000 }, async () => {
    const found = await Promise.all(
      callers.map(async (who) => {
        const { status, body } = await app.send('POST', '/v2/stream/ticket', { credential: who.credential });
        if (who.wrong !== null) return status === 401 ? [] : [`${who.name}: ${status}`];
        const talking = await opened('/v2/ws', [], {
          op: 'auth',
          ticket: body.data.ticket,
          proto: 3,
          encoding: 'protobuf',
        });
        return overSocket(who, socketTopics, talking, (topic, symbol, id) => ({ op: 'sub', id, topic, symbol }));
      }),
    );
    expect(found.flat()).toEqual([]);
  });

  test('subscriptions by graphql-transport-ws', { timeout: 120_000 }, async () => {
    const found = await Promise.all(
      callers.map(async (who) => {
        const hello = {
          type: 'connection_init',
          payload: who.credential ? { Authorization: `Bearer ${who.credential}` } : {},
        };
        if (who.wrong !== null) {
          const talking = talk(`${app.url}/graphql`, ['graphql-transport-ws']);
          await talking.open;
          talking.send(hello);
          const { code } = await talking.closed;
          return code === 4401 ? [] : [`${who.name}: ${code}`];
        }
        const talking = await opened('/graphql', ['graphql-transport-ws'], hello);
        return overSocket(who, subscriptions, talking, (field, symbol, id) => ({
          id,
          type: 'subscribe',
          payload: { query: `subscription { ${about(field, symbol, '')} }` },
        }));
      }),
    );
    expect(found.flat()).toEqual([]);
  });
});

describe('the same with X-API-Key', () => {
  test('a key of each tier is who it is with Authorization, and a bad one is refused', async () => {
    const send = (key: string) => app.get('/v2/symbols/NVDA/spot', { credential: null, headers: { 'x-api-key': key } });
    for (const who of callers.filter(({ kind, credential }) => kind === 'key' && credential)) {
      const outcome = expected(who, { needs: 'symbol', symbolRule: 'registered' }, 'NVDA', 'rest');
      expect([who.name, (await send(who.credential!)).status]).toEqual([who.name, statusOf[outcome]]);
    }
  });
});
