// A screen is the same whichever process answers it: one alone, or one of several over a primary and a standby.
import { expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { tapegraph } from '../cli/command-line.ts';
import { served } from '../cli/served.ts';
import { type Json, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { ownPostgres } from '../support/servers/own-postgres.ts';

const screens = [
  '{"changePct":{"isNull":false}}&order_by=-change_pct',
  '{"or":[{"netGex":{"gt":0}},{"flipDistancePct":{"lt":0}}],"not":{"class":{"eq":"index"}}}&order_by=spot',
  '{"openInterest":{"gt":0}}&order_by=-open_interest',
  '{"offExchangePct":{"gt":0}}&order_by=off_exchange_pct',
  '{}&order_by=-iv30',
  '{"changePct":{"isNull":false}}&order_by=-change_pct&at=2026-11-30T12:00',
].map((query) => `/v2/screener/screen?where=${query}`);
/** Requests to the workers for each screen: over connections of their own, so that every worker answers some. */
const asked = 8;

const plain = ({ data, error }: Json) => ({ data, error });

async function moveSpot(store: Store): Promise<void> {
  await inTransaction(store, async (tx) => {
    await tx.query("UPDATE live_quotes SET spot = spot * 1.01 WHERE symbol = 'SPY'");
    tx.changes.add('market', 'SPY');
  });
}

test('several workers and a standby give the answers of one process, and follow a commit', {
  timeout: 300_000,
}, async () => {
  const primary = await ownPostgres();
  const standby = await primary.standby();
  const databaseUrl = primary.url();
  const opened = await openStore({ databaseUrl, dataDir: '' });
  const store = { ...opened, databaseUrl };
  const app = await testApp({ nowMs: filledNowMs, store });
  onTestFinished(() => app.close());
  await fillMarket(store);
  const env = {
    DATABASE_URL: databaseUrl,
    DATABASE_READ_URLS: standby.url(),
    LOG_LEVEL: 'warn',
    RATE_PRO: '1000000',
  };
  const clock = new Date(filledNowMs).toISOString();
  const { ready } = await served(['--workers', '3', '--clock', clock], env);
  const pro = ['--api-tier', 'pro', '--site-tier', 'pro', '--classification', 'non_professional'];
  await tapegraph(['account', 'set', 'acme', ...pro], env);
  const { token } = JSON.parse(
    (await tapegraph(['session', 'create', '--account', 'acme', '--clock', clock, '--json'], env)).stdout,
  );
  const key = await app.key();
  const alone = async (path: string) => plain((await app.get(path, { credential: key })).body);
  const elsewhere = async (path: string) => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' };
    return plain(await (await fetch(ready.url + path, { headers })).json());
  };
  const compare = async () => {
    for (const path of screens) {
      const expected = await alone(path);
      expect(expected.data.length, path).toBeGreaterThan(0);
      const answers = await Promise.all(Array.from({ length: asked }, () => elsewhere(path)));
      for (const answer of answers) expect(answer, path).toEqual(expected);
    }
  };
  await compare();
  const [before] = (await alone(screens[0]!)).data.filter(({ symbol }: Json) => symbol === 'SPY');
  await moveSpot(store);
  const spotOf = ({ data }: Json) => data.find(({ symbol }: Json) => symbol === 'SPY').spot;
  // The commit reaches the standby a little later.
  await expect
    .poll(
      async () =>
        new Set(await Promise.all(Array.from({ length: asked }, async () => spotOf(await elsewhere(screens[0]!))))),
      { timeout: 30_000 },
    )
    .toEqual(new Set([before.spot * 1.01]));
  await compare();
});
