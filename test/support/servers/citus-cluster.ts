import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { openStore } from '../../../src/store/engine/connection.ts';
import { distributionSql } from '../../../src/store/engine/distribution.ts';

// The cluster's program lies beside the clone, as the shared data do.
const program = fileURLToPath(new URL('../../../../shared/citus/cluster.sh', import.meta.url));
const postgresBin = '/usr/lib/postgresql/15/bin';

/** Why no cluster can be started here; null = one can. In CI the absence of PostgreSQL 15 is an error. */
export function noCitus(): string | null {
  if (!existsSync(program)) return 'the folder ../shared/citus is missing';
  if (existsSync(join(postgresBin, 'initdb'))) return null;
  if (process.env.CI === 'true') throw new Error(`CI needs PostgreSQL 15 at ${postgresBin}.`);
  return `PostgreSQL 15 is not installed at ${postgresBin}`;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The Citus cluster of this run, in the project `citus`. */
    cluster?: CitusCluster;
  }
}

/** A coordinator and two workers. */
export interface CitusCluster {
  /** A database of the coordinator, in which `{database}` stands for the name. */
  url: string;
  /** The nodes' ports; the first is the coordinator's. */
  ports: readonly number[];
  folder: string;
}

const run = promisify(execFile);
const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

async function freePorts(): Promise<number> {
  for (;;) {
    const port = 20_000 + 3 * Math.floor(Math.random() * 3000);
    const free = await Promise.all([port, port + 1, port + 2].map(isFree));
    if (free.every(Boolean)) return port;
  }
}

/** Starts a cluster in a temporary folder. */
export async function citusCluster(): Promise<CitusCluster & { stop(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph-citus-'));
  const port = await freePorts();
  await run('bash', [program, 'start', folder, String(port)]);
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/{database}`,
    ports: [port, port + 1, port + 2],
    folder,
    stop() {
      execFileSync('bash', [program, 'stop', folder], { stdio: 'ignore' });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The URL of a database of a node. */
export function nodeUrl({ url, ports }: CitusCluster, node: number, database: string): string {
  const of = new URL(url.replace('{database}', database));
  of.port = String(ports[node]);
  return of.href;
}

/** Makes a database on every node and joins them into one, as an operator would. Its rows are in few shards. */
export async function createDistributed(cluster: CitusCluster, database: string): Promise<void> {
  const nodes = [...cluster.ports.keys()];
  await Promise.all(
    nodes.map(async (node) => {
      await statementsAt(nodeUrl(cluster, node, 'postgres'), [`CREATE DATABASE ${database}`]);
      await statementsAt(nodeUrl(cluster, node, database), ['CREATE EXTENSION citus']);
    }),
  );
  const [coordinator, ...workers] = cluster.ports;
  const databaseUrl = nodeUrl(cluster, 0, database);
  await statementsAt(databaseUrl, [
    `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator})`,
    ...workers.map((port) => `SELECT citus_add_node('127.0.0.1', ${port})`),
  ]);
  await (await openStore({ databaseUrl, dataDir: '', poolSize: 2 })).close();
  await statementsAt(databaseUrl, ['SET citus.shard_count = 4', ...distributionSql()]);
}

/** Drops what `createDistributed` made. */
export async function dropDistributed(cluster: CitusCluster, database: string): Promise<void> {
  const nodes = [...cluster.ports.keys()].map((node) => nodeUrl(cluster, node, 'postgres'));
  await Promise.all(nodes.map((url) => statementsAt(url, [`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`])));
}

async function statementsAt(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
