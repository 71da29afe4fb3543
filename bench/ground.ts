import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener, Server } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Access, openAccess } from '../src/access/open-access.ts';
import { LiveHub } from '../src/live/hub.ts';
import { type Config, readConfig } from '../src/platform/config/config.ts';
import { createApp } from '../src/server.ts';
import { openStore, type Store } from '../src/store/rows/connection.ts';
import { watchChanges } from '../src/store/versions/announcements.ts';

/** A server under measurement. */
export interface Measured {
  url: string;
  close: () => Promise<void>;
}

/** Setup of every measurement: an embedded store of its own, and the gateway over it. */
export interface Ground {
  store: Store;
  access: Access;
  config: Config;
  live: LiveHub;
  /** The data folder of the store. */
  dataDir: string;
  gateway: Measured;
  /** An API key and a site session of a pro, attested account. */
  key: string;
  session: string;
  now: () => number;
  close: () => Promise<void>;
}

/** Serves `listener` on a loopback port. */
export async function listen(listener: RequestListener): Promise<Measured> {
  const server: Server = http.createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Opens the ground; `nowMs` is where the gateway's clock starts, `env` are settings beyond the usual. */
export async function openGround(nowMs: number, env: Record<string, string> = {}): Promise<Ground> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tapegraph-bench-'));
  // Open to root's embedded server, which runs as another user.
  await chmod(dataDir, 0o755);
  const store = await openStore({ databaseUrl: process.env.DATABASE_URL ?? null, dataDir });
  const config = readConfig({ RATE_PRO: '1000000', LOG_LEVEL: 'silent', ...env }, {});
  const startedAt = performance.now();
  const now = () => nowMs + Math.floor(performance.now() - startedAt);
  const access = await openAccess({ store, config, now });
  await access.accounts.set('bench', { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
  const { key } = await access.keys.create({ accountId: 'bench', name: null, expiresAt: null });
  const session = await access.sessions.create('bench', 86_400_000);
  const changes = await watchChanges(store);
  const live = new LiveHub({ store, now, changes, onError: (failure) => console.error(failure) });
  const gateway = await listen(createApp({ config, store, access, now, log: pino({ level: 'silent' }), live }));
  return {
    store,
    access,
    config,
    live,
    dataDir,
    gateway,
    key,
    session,
    now,
    close: async () => {
      live.close();
      await gateway.close();
      await access.close();
      await changes.stop();
      await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
