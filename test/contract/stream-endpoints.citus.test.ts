import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { saveSymbols } from '../../src/store/market/symbols.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { type AccountOptions, type TestApp, testApp, testSymbols } from '../support/app.ts';
import { type HandTimers, handTimers, trade } from '../support/live.ts';
import { storeDays } from '../support/market.ts';
import { type Followed, streamEndpoints } from '../support/stream-endpoints.ts';

// One table for every endpoint that sends live data: what holds at one holds at all of them.
const patient = { timeout: 10_000 };
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;
let timers: HandTimers;

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ nowMs, every: timers.every });
  for (const symbol of ['SPY', 'MSFT', 'XSP']) await storeDays(app.store, symbol, { '2026-11-19': 600 });
});
afterAll(() => app.close());

async function follow(name: string, on: TestApp, credential: string, symbol: string): Promise<Followed> {
  const followed = await streamEndpoints[name]!(on, credential, symbol);
  onTestFinished(followed.leave);
  await expect.poll(followed.prices, patient).toEqual([600]);
  return followed;
}

interface Owner {
  accountId: string;
  keyId: string;
}

/** A right that is lost while a stream lasts. */
interface Loss {
  symbol: string;
  account: AccountOptions;
  lose: (owner: Owner) => Promise<unknown>;
  code: string;
  message: RegExp;
}

const keyMs = 3_600_000;

/** Replaces registry entries, as an operator does. */
function enter(symbol: string, change: Partial<(typeof testSymbols)[number]> = {}): Promise<number> {
  const entry = testSymbols.find((each) => each.symbol === symbol)!;
  return inTransaction(app.store, (tx) => saveSymbols(tx, [{ ...entry, ...change }]));
}

const losses: Record<string, Loss> = {
  'its key is revoked': {
    symbol: 'MSFT',
    account: {},
    lose: ({ keyId, accountId }) => app.access.keys.revoke(keyId, accountId),
    code: 'unauthenticated',
    message: /not valid/,
  },
  'its key expires': {
    symbol: 'MSFT',
    account: {},
    lose: async () => {
      app.clock.nowMs += keyMs;
    },
    code: 'token_expired',
    message: /expired/,
  },
  'the tier is lowered': {
    symbol: 'MSFT',
    account: {},
    lose: ({ accountId }) => app.access.accounts.set(accountId, { apiTier: 'free' }),
    code: 'not_entitled_tier',
    message: /basic/,
  },
  'the account becomes a professional': {
    symbol: 'XSP',
    account: {},
    lose: ({ accountId }) => app.access.accounts.set(accountId, { classification: 'professional' }),
    code: 'attestation_required',
    message: /non-professional/,
  },
  'the symbol is given to a higher tier': {
    symbol: 'MSFT',
    account: { apiTier: 'basic' },
    lose: () => enter('MSFT', { minTier: 'pro' }),
    code: 'not_entitled_tier',
    message: /pro/,
  },
  'the symbol begins to require the attestation': {
    symbol: 'MSFT',
    account: { classification: null },
    lose: () => enter('MSFT', { requiresAttestation: true }),
    code: 'attestation_required',
    message: /non-professional/,
  },
};

describe('a stream ends with the reason when', () => {
  test.each(Object.entries(losses))('%s, at every endpoint, and others go on', async (_name, loss) => {
    onTestFinished(async () => void (await enter(loss.symbol)));
    const accountId = await app.account(loss.account);
    const { key, meta } = await app.access.keys.create({ accountId, name: null, expiresAt: app.clock.nowMs + keyMs });
    const other = await follow('/v2/stream', app, await app.key(), 'SPY');
    const followed: Record<string, Followed> = {};
    for (const name of Object.keys(streamEndpoints)) followed[name] = await follow(name, app, key, loss.symbol);
    await loss.lose({ accountId, keyId: meta.id });
    for (const [name, { ended }] of Object.entries(followed)) {
      const reason = () => {
        timers.recheck();
        return ended();
      };
      await expect.poll(reason, { ...patient, message: name }).not.toBeNull();
      const { code, message } = ended()!;
      expect([name, code ?? loss.code]).toEqual([name, loss.code]);
      expect(message).toMatch(loss.message);
    }
    expect(other.ended()).toBeNull();
  });
});

test('what another process commits reaches the clients of every endpoint', async () => {
  const [key, second] = [await app.key(), await testApp({ nowMs, store: app.store, every: handTimers().every })];
  onTestFinished(() => second.live.close());
  const followed: Followed[] = [];
  for (const name of Object.keys(streamEndpoints))
    for (const on of [app, second]) followed.push(await follow(name, on, key, 'SPY'));
  await trade(app.store, { SPY: 701.25 }, nowMs - 1000);
  for (const { prices } of followed) await expect.poll(prices, patient).toEqual([600, 701.25]);
  await trade(second.store, { SPY: 702.5 }, nowMs - 900);
  for (const { prices } of followed) await expect.poll(prices, patient).toEqual([600, 701.25, 702.5]);
});

test.each(Object.keys(streamEndpoints))('%s: the client is told of a shutdown', async (name) => {
  const stopping = await testApp({ nowMs, store: app.store, every: handTimers().every });
  const followed = await streamEndpoints[name]!(stopping, await stopping.key(), 'XSP');
  onTestFinished(followed.leave);
  await expect.poll(followed.prices, patient).toEqual([600]);
  stopping.live.drain();
  await expect.poll(followed.ended, patient).toMatchObject({ message: 'The server is shutting down; reconnect.' });
  stopping.live.close();
});
