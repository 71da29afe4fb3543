import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { watchBy } from '../../src/cli/server/observing.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { createMetrics } from '../../src/platform/observe/metrics.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { onServer } from '../support/servers/template-database.ts';
import { type TestStore, testStore } from '../support/store.ts';

const token = 'a-token-of-sixteen-and-more';
const nameOf = ({ databaseUrl }: TestStore) => new URL(databaseUrl.replace('@/', '@none/')).pathname.slice(1);
const roleOf = (store: TestStore) => `${nameOf(store)}_gateway`;

/** The application, which uses the database as a role of its own, and the store as its owner has it. */
async function served() {
  const base = await testStore();
  const role = roleOf(base);
  const sql = (text: string) => base.pool.query(text);
  await sql(`create role ${role} login`);
  await sql(`grant all on all tables in schema public to ${role}`);
  await sql(`grant all on all sequences in schema public to ${role}`);
  await sql(`grant usage on schema public to ${role}`);
  const databaseUrl = base.databaseUrl.replace(/\/\/[^@/]*@/, `//${role}@`);
  const store = await openStore({ databaseUrl, dataDir: '', migrate: false });
  const metrics = createMetrics('1.2.3');
  const close = async () => {
    await store.close();
    await base.close();
    await onServer(inject('testServer').url, `drop role ${role}`);
  };
  const env = { METRICS_TOKEN: token };
  const app = await testApp({ nowMs: filledNowMs, env, metrics, store: { ...store, databaseUrl, close } });
  onTestFinished(() => app.close());
  const { access, live } = app;
  watchBy(metrics, { store, access, live, config: readConfig(env), now: () => app.clock.nowMs });
  await fillMarket(base);
  return { app, base };
}

/** A cause that makes every write fail, its repair, and the report that operators receive. */
interface Fault {
  what: string;
  reason: string;
  problem: string;
  begin: (store: TestStore) => Promise<unknown>;
  end: (store: TestStore) => Promise<unknown>;
}

// Connections that are open keep what held when they were opened.
const reconnect = (store: TestStore) =>
  store.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = '${roleOf(store)}'`,
  );

const tables = ['store_facts', 'usage_counts', 'api_keys', 'journal_accounts', 'journal_trades', 'watchlists'];

const faults: Fault[] = [
  {
    what: 'a database that is read-only',
    reason: 'The database is read-only: nothing can be written.',
    problem: 'read_only',
    begin: async (store) => {
      await store.pool.query(
        `alter role ${roleOf(store)} in database ${nameOf(store)} set default_transaction_read_only = on`,
      );
      await reconnect(store);
    },
    end: async (store) => {
      await store.pool.query(
        `alter role ${roleOf(store)} in database ${nameOf(store)} reset default_transaction_read_only`,
      );
      await reconnect(store);
    },
  },
  {
    what: 'a database user who lost the right to write',
    reason: 'The database user may not write.',
    problem: 'permission_denied',
    begin: (store) =>
      store.pool.query(`revoke insert, update, delete on all tables in schema public from ${roleOf(store)}`),
    end: (store) => store.pool.query(`grant insert, update, delete on all tables in schema public to ${roleOf(store)}`),
  },
  {
    what: 'a full disk',
    reason: 'The disk of the database is full: nothing can be written.',
    problem: 'disk_full',
    begin: async ({ pool }) => {
      await pool.query(
        `create function no_room() returns trigger language plpgsql as $$ begin
           raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
         end $$`,
      );
      for (const table of tables)
        await pool.query(`create trigger no_room before insert or update on ${table} execute function no_room()`);
    },
    end: ({ pool }) => pool.query('drop function no_room() cascade'),
  },
];

describe.each(faults)('$what', ({ reason, problem, begin, end }) => {
  test('degrades health and says why, serves every read, refuses writes without the cause, and loses no usage', async () => {
    const { app, base } = await served();
    const accountId = await app.account();
    const credential = await app.access.sessions.create(accountId, 3_600_000);
    const health = async () => (await app.get('/healthz', { credential: null })).body;
    const reading = () => app.get('/v2/symbols/SPY/spot', { credential });
    const writing = (name: string) =>
      app.send('POST', '/v2/journal/accounts', { credential, body: JSON.stringify({ name }) });
    expect([(await reading()).status, (await writing('before')).status]).toEqual([200, 200]);
    await app.access.usage.flush();
    expect(await health()).toEqual({ status: 'ok' });

    await begin(base);
    // Nobody has written in the meantime.
    await expect.poll(health, { timeout: 20_000 }).toEqual({ status: 'degraded', reasons: [reason] });
    expect(await app.get('/readyz', { credential: null })).toMatchObject({ status: 200, body: { status: 'ready' } });
    const reads = await Promise.all(Array.from({ length: 5 }, reading));
    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const refused = await writing('meanwhile');
    expect(refused).toMatchObject({ status: 502, body: { error: { code: 'internal' } } });
    expect(refused.bytes.toString()).not.toMatch(/read-only|permission|space|relation|INSERT/i);
    const [graph] = (
      await app.graphql(
        'mutation { createJournalAccount(account: { name: "a" }) { account { id } } }',
        {},
        { credential },
      )
    ).errors!;
    expect(graph.extensions.code).toBe('internal');
    await app.access.usage.flush();
    const metrics = (await app.get('/metrics', { credential: null, headers: { authorization: `Bearer ${token}` } }))
      .bytes;
    expect(metrics.toString()).toMatch(
      new RegExp(`^tapegraph_writes_failing\\{writer="usage counts",problem="${problem}"\\} 1$`, 'm'),
    );
    expect(metrics.toString()).toMatch(/^tapegraph_write_failures_total\{writer="usage counts"\} [1-9]/m);
    expect(metrics.toString()).toMatch(/^tapegraph_usage_rows_waiting [1-9]/m);

    await end(base);
    await expect.poll(health, { timeout: 20_000 }).toEqual({ status: 'ok' });
    expect((await writing('after')).status).toBe(200);
    const counted = await app.access.usage.read(accountId);
    const of = (group: string) => counted.find(({ scopeGroup }) => scopeGroup === group)?.count;
    // The spot's route six times; the journal's thrice, and once by the graph.
    expect([of('market.live'), of('journal')]).toEqual([6, 4]);
  });
});
