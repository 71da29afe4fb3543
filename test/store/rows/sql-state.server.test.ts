import { once } from 'node:events';
import net from 'node:net';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPrisma } from '../../../src/store/rows/models/prisma.ts';
import { driverFailureOf, sqlStateOf } from '../../../src/store/rows/sql-state.ts';
import { proxiedDatabase } from '../../support/servers/proxied-database.ts';
import { storeForThisTest } from '../../support/store.ts';

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** A connection through a proxy. */
async function proxied(config: pg.ClientConfig = {}) {
  const { databaseUrl } = await storeForThisTest();
  const { proxy, url } = await proxiedDatabase(databaseUrl);
  const client = new pg.Client({ connectionString: url, ...config });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end().catch(() => {}));
  return { proxy, client, url };
}

/** The port of a server that accepts connections and says nothing. */
async function portOf(onSocket: (socket: net.Socket) => void = () => {}): Promise<number> {
  const server = net.createServer((socket) => onSocket(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as net.AddressInfo).port;
}

describe("an error of pg's own, which has no code, is recognized as", () => {
  test('unanswered, if a statement took longer than its limit', async () => {
    const { proxy, client } = await proxied({ query_timeout: 50 });
    proxy.hang();
    expect(driverFailureOf(await failureOf(client.query('SELECT 1')))).toBe('unanswered');
  });

  test('lost, if the server ended the connection, or it broke before a statement', async () => {
    const to = { host: '127.0.0.1', port: await portOf((socket) => void socket.end()), user: 'nobody' };
    expect(driverFailureOf(await failureOf(new pg.Client(to).connect()))).toBe('lost');
    const { proxy, client } = await proxied();
    await Promise.all([new Promise((resolve) => client.once('end', resolve)), proxy.takeAway()]);
    expect(driverFailureOf(await failureOf(client.query('SELECT 1')))).toBe('lost');
  });

  test('lost, if it was closed here', async () => {
    const { client } = await proxied();
    const sleeping = failureOf(client.query('SELECT pg_sleep(60)'));
    void client.end();
    (client as unknown as { connection: { stream: net.Socket } }).connection.stream.destroy();
    expect(driverFailureOf(await sleeping)).toBe('lost');
    expect(driverFailureOf(await failureOf(client.query('SELECT 1')))).toBe('lost');
  });

  test('unreachable, if no connection was made in time, by a client or by a pool', async () => {
    const to = { host: '127.0.0.1', port: await portOf(), user: 'nobody', connectionTimeoutMillis: 50 };
    expect(driverFailureOf(await failureOf(new pg.Client(to).connect()))).toBe('unreachable');
    const pool = new pg.Pool({ ...to, max: 1 });
    onTestFinished(() => pool.end());
    const both = await Promise.all([failureOf(pool.query('SELECT 1')), failureOf(pool.query('SELECT 1'))]);
    expect(both.map(driverFailureOf)).toEqual(['unreachable', 'unreachable']);
  });

  test('unreachable, if all connections of a pool are in use for so long', async () => {
    const { databaseUrl } = await storeForThisTest();
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    const client = await pool.connect();
    onTestFinished(() => pool.end());
    // Only then: a busy server takes longer to accept a connection.
    pool.options.connectionTimeoutMillis = 50;
    expect(driverFailureOf(await failureOf(pool.query('SELECT 1')))).toBe('unreachable');
    client.release();
  });
});

test("an error response has PostgreSQL's code, by SQL and by a model, and is no failure of the driver", async () => {
  const store = await storeForThisTest();
  const { models, close } = openPrisma(store.pool, store.schema);
  onTestFinished(close);
  await store.pool.query('ALTER TABLE store_facts RENAME TO gone');
  for (const read of [store.pool.query('SELECT FROM store_facts'), models.metadataEntry.findMany()]) {
    const error = await failureOf(read);
    expect(error).toBeInstanceOf(Error);
    expect([sqlStateOf(error), driverFailureOf(error)]).toEqual(['42P01', null]);
  }
});
