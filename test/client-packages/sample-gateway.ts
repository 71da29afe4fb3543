import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../src/intake/ingest/files/lists/starter-registry.ts';
import { ensureSampleMarket } from '../../src/intake/ingest/sample/sample-market.ts';
import { type Standing, standingAt } from '../../src/rest/contract/example.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { testStore } from '../support/store.ts';

/** A server with a small sample market, for all tests of the packages. */
export interface SampleGateway {
  app: TestApp;
  /** A key and a session of one account. */
  key: string;
  session: string;
  /** Values for the examples of routes. */
  standing: Standing;
}

const tape = { optionPrints: 2000, plants: 56, stockPrints: 400, symbols: ['SPX', 'SPY', 'NVDA', 'AAPL'] };
const shape = { barSessions: 4, chainSessions: 2, historySessions: 30, captureEveryMinutes: 60, tapeSessions: 2, tape };
// A morning: the session before is reconciled, and nothing trades yet. No program finds it by the machine's clock.
const nowMs = exchangeInstant('2026-11-20', 7 * 60 + 30);

/** Starts the server. `dataDir`: for the files of the market. */
export async function sampleGateway(
  dataDir: string,
  options: Parameters<typeof testApp>[0] = {},
): Promise<SampleGateway> {
  const store = await testStore();
  await ensureStarterRegistry(store, () => nowMs);
  await ensureSampleMarket(store, { dataDir, now: () => nowMs, shape });
  const app = await testApp({ store, nowMs, symbols: [], ...options });
  const accountId = await app.account();
  const { key } = await app.access.keys.create({ accountId, name: null, expiresAt: null });
  const session = await app.access.sessions.create(accountId, 3_600_000);
  return { app, key, session, standing: standingAt(nowMs) };
}
