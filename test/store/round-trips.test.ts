import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/store/rows/connection.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { proxiedDatabase } from '../support/servers/proxied-database.ts';
import { type TestStore, testStore } from '../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const trade = JSON.stringify({ account_id: 'main', symbol: 'SPY', side: 'buy', qty: 1, price: 1 });

/**
 * Writes by the statements that they need: the lock of the account begins the transaction, and the end of it is one
 * round trip more.
 */
const writes: [string, [string, string, string | undefined], number][] = [
  // The lock, the number of other lists, the list.
  ['a watchlist', ['PUT', '/v2/watchlists/w', JSON.stringify({ name: 'W', symbols: ['SPY', 'AAPL'] })], 3],
  // The lock, the trade, the new values.
  ['a trade that is there, replaced', ['PUT', '/v2/journal/trades/t', trade], 3],
  // The lock, the trade, the new values.
  ['a trade, changed', ['PATCH', '/v2/journal/trades/t', JSON.stringify({ qty: 2 })], 3],
  // The lock, the trade, the new values. the number of rows.
  ['a trade that is new', ['POST', '/v2/journal/trades', trade], 4],
];

test.each(writes)('%s takes one round trip more than its statements', async (_, [method, path, body], statements) => {
  const { proxy, url } = await proxiedDatabase(store.databaseUrl);
  const far = Object.assign(await openStore({ databaseUrl: url, dataDir: '', migrate: false }), {
    databaseUrl: url,
  }) as TestStore;
  const app: TestApp = await testApp({ store: far });
  try {
    const credential = await app.key();
    const send = () => app.send(method, path, { credential, ...(body !== undefined && { body }) });
    await app.send('PUT', '/v2/journal/trades/t', { credential, body: trade });
    // Connections, prepared statements and what is held of the account and the registry are there after that.
    for (let i = 0; i < 3; i++) expect((await send()).status).toBe(200);
    const before = proxy.roundTrips();
    expect((await send()).status).toBe(200);
    expect(proxy.roundTrips() - before).toBe(statements + 1);
  } finally {
    await app.close();
  }
});
