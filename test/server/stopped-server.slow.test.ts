import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toBarColumns } from '../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { writeBars } from '../../src/store/market/bar-blocks.ts';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { testApp } from '../support/app.ts';
import { type OwnPostgres, ownPostgres } from '../support/servers/own-postgres.ts';

const path = '/v2/stocks/NVDA/bars?from=2026-11-19&to=2026-11-20';
const open = { status: 200, close: expect.any(Number) };

async function writeClose(store: Store, close: number): Promise<void> {
  const at = { tsMs: exchangeInstant('2026-11-19', 600), open: 1, high: 9, low: 1, volume: 1, vwap: null };
  const bars = toBarColumns([{ ...at, close, tradeCount: null }]);
  await inTransaction(store, async (tx) => {
    await writeBars(tx, '1m', [{ symbol: 'NVDA', bars }]);
  });
}

/** The application over a server that the test stops; what it says of the bar's close, and of its own state. */
async function appOver(server: OwnPostgres) {
  const databaseUrl = server.url();
  const app = await testApp({ store: { ...(await openStore({ databaseUrl, dataDir: '' })), databaseUrl } });
  onTestFinished(() => app.close());
  const credential = await app.key();
  const asked = async () => {
    const { status, body } = await app.get(path, { credential });
    return { status, close: body?.data?.[0]?.close ?? body?.error?.code };
  };
  const unknown = await app.key();
  const optionBars = async () => {
    const { status, body } = await app.get('/v2/options/O:NVDA261218C00600000/bars', { credential: unknown });
    return [status, body.error.code];
  };
  const states = async () =>
    Promise.all(['/healthz', '/readyz'].map(async (at) => (await app.get(at, { credential: null })).status));
  return { app, asked, optionBars, states };
}

describe('a database server that really ends', () => {
  const rejections: unknown[] = [];
  beforeAll(() => {
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    return () => process.off('unhandledRejection', onRejection);
  });

  test.each(['stop', 'kill'] as const)(
    '(%s) is a 502 while it is away; when it is back, so is the gateway, with nothing stale',
    async (how) => {
      const server = await ownPostgres();
      const { app, asked, optionBars, states } = await appOver(server);
      await writeClose(app.store, 2);
      // Asked for again, it is kept.
      for (let again = 0; again < 3; again++) expect(await asked()).toEqual({ status: 200, close: 2 });
      await server[how]();
      // The process notices a little later that its connections have ended: until then a cached answer is right.
      await expect.poll(asked).toEqual({ status: 502, close: 'internal' });
      expect(await states()).toEqual([200, 503]);
      // Not even whose key it is can be known, and yet it is the provider of option bars that is away (spec 7).
      expect(await optionBars()).toEqual([503, 'provider_unavailable']);
      await server.start();
      // Written before the gateway has found its way back: it never hears of it.
      const other = await openStore({ databaseUrl: server.url(), dataDir: '' });
      onTestFinished(() => other.close());
      await writeClose(other, 3);
      await expect.poll(asked, { timeout: 10_000 }).toEqual(open);
      expect(await asked()).toEqual({ status: 200, close: 3 });
      expect(await states()).toEqual([200, 200]);
      // And once it listens again, it hears of changes.
      for (let close = 4; close < 7; close++) {
        await writeClose(other, close);
        await expect.poll(asked, { timeout: 10_000 }).toEqual({ status: 200, close });
      }
      expect(rejections).toEqual([]);
    },
    60_000,
  );
});
