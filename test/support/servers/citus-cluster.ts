import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { distributionSql } from '../../../src/store/cluster/distribution.ts';
import { openStore } from '../../../src/store/rows/connection.ts';
import { memoryFolder } from './memory-folder.ts';

// The cluster's program is beside the clone, like the shared data.
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
  /** A database of the coordinator; `{database}` is the placeholder of its name. */
  url: string;
  /** The nodes' ports; the first is the coordinator's. */
  ports: readonly number[];
  folder: string;
}

const run = promisify(execFile);
const template = 'distributed_template';
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

/** Starts a cluster in a temporary folder, with a template of distributed stores. */
export async function citusCluster(): Promise<CitusCluster & { stop(): void }> {
  const folder = mkdtempSync(join(memoryFolder(), 'tapegraph-citus-'));
  const port = await freePorts();
  await run('bash', [program, 'start', folder, String(port)]);
  const cluster: CitusCluster = {
    url: `postgresql://postgres@127.0.0.1:${port}/{database}`,
    ports: [port, port + 1, port + 2],
    folder,
  };
  await Promise.all(nodesOf(cluster).map((node) => setUpNode(nodeUrl(cluster, node, 'postgres'))));
  await createTemplate(cluster);
  return {
    ...cluster,
    stop() {
      execFileSync('bash', [program, 'stop', folder], { stdio: 'ignore' });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lets a node copy tables while they are written, where PostgreSQL asks which may, and proxies read what they pass. */
export async function setUpNode(url: string): Promise<void> {
  const known = await statementsAt(url, [`SELECT FROM pg_settings WHERE name = 'output_plugin_libraries'`]);
  await statementsAt(url, [
    ...(known.rowCount === 0 ? [] : ['ALTER SYSTEM SET output_plugin_libraries = pgoutput, citus']),
    `ALTER SYSTEM SET citus.node_conninfo = 'sslmode=disable'`,
    `ALTER SYSTEM SET citus.background_task_queue_interval = '200ms'`,
    'SELECT pg_reload_conf()',
  ]);
}

/** The URL of a database of a node. */
export function nodeUrl({ url, ports }: CitusCluster, node: number, database: string): string {
  const of = new URL(url.replace('{database}', database));
  of.port = String(ports[node]);
  return of.href;
}

const nodesOf = ({ ports }: CitusCluster) => [...ports.keys()];

/** Makes a database on every node, with an owner of its own name that has no other rights. */
export async function createDatabases(cluster: CitusCluster, database: string): Promise<void> {
  const nodes = nodesOf(cluster).map((node) => nodeUrl(cluster, node, 'postgres'));
  const made = [`CREATE ROLE ${database} LOGIN`, `CREATE DATABASE ${database} OWNER ${database}`];
  await Promise.all(nodes.map((url) => statementsAt(url, made)));
}

/** The URL of a database of the coordinator, as its owner. */
export function ownerUrl(cluster: CitusCluster, database: string): string {
  const of = new URL(nodeUrl(cluster, 0, database));
  of.username = database;
  return of.href;
}

/** Joins a database's nodes into one, as an operator would. Its rows are to be in few shards. */
export async function joinNodes(
  cluster: CitusCluster,
  database: string,
  workers: readonly number[] = cluster.ports.slice(1),
): Promise<void> {
  const nodes = nodesOf(cluster).map((node) => nodeUrl(cluster, node, database));
  await Promise.all(nodes.map((url) => statementsAt(url, ['CREATE EXTENSION citus'])));
  await statementsAt(nodeUrl(cluster, 0, database), [
    `ALTER DATABASE ${database} SET citus.shard_count = 4`,
    `SELECT citus_set_coordinator_host('127.0.0.1', ${cluster.ports[0]})`,
    ...workers.map((port) => `SELECT citus_add_node('127.0.0.1', ${port})`),
  ]);
}

/** Makes an empty distributed store whose workers are at `workers`; absent: the cluster's own. */
export async function buildDistributed(
  cluster: CitusCluster,
  database: string,
  workers?: readonly number[],
): Promise<void> {
  await createDatabases(cluster, database);
  await joinNodes(cluster, database, workers);
  const databaseUrl = nodeUrl(cluster, 0, database);
  await (await openStore({ databaseUrl, dataDir: '', poolSize: 2 })).close();
  await statementsAt(databaseUrl, distributionSql());
}

/** Makes what `createDistributed` copies. */
async function createTemplate(cluster: CitusCluster): Promise<void> {
  await buildDistributed(cluster, template);
  // A database can be copied only without connections, including those of Citus's own process per database.
  const closed = [
    `ALTER DATABASE ${template} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${template}'`,
  ];
  await Promise.all(nodesOf(cluster).map((node) => statementsAt(nodeUrl(cluster, node, 'postgres'), closed)));
}

/** Starts a node's server, or ends it as a crash does; `options` are pg_ctl's. */
export function controlServer(folder: string, action: 'start' | 'stop', options = ''): void {
  const how = action === 'start' ? `-l ${folder}.log ${options}` : '-m immediate';
  asPostgres(`${postgresBin}/pg_ctl -D ${folder} ${how} -w ${action}`);
}

/** Kills a node's server and all of its processes. Returns when they are gone. */
export async function killServer(folder: string): Promise<void> {
  const [first] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', first!], { encoding: 'utf8' }).trim().split(/\s+/);
  const all = [first!, ...children].map(Number);
  for (const pid of all) tryKill(pid, 'SIGKILL');
  while (all.some((pid) => tryKill(pid, 0))) await delay(10);
}

/** True if the process existed. */
function tryKill(pid: number, signal: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Runs a command line as the user that the servers run as. */
function asPostgres(command: string): void {
  const isRoot = process.getuid?.() === 0;
  const [program, ...args] = isRoot ? ['su', 'postgres', '-s', '/bin/bash', '-c', command] : ['bash', '-c', command];
  execFileSync(program!, args, { stdio: 'ignore' });
}

/** Makes a distributed store of its own: a copy of every node's template. */
export async function createDistributed(cluster: CitusCluster, database: string): Promise<void> {
  const copied = [
    `CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY file_copy`,
    `ALTER DATABASE ${database} ALLOW_CONNECTIONS true`,
  ];
  await Promise.all(nodesOf(cluster).map((node) => statementsAt(nodeUrl(cluster, node, 'postgres'), copied)));
}

/** A standby that streams from the coordinator and reads the workers themselves. */
export interface CoordinatorStandby {
  /** A database of it; `{database}` is the placeholder of its name. */
  url: string;
  start(): void;
  /** Ends it as a crash does. */
  stop(): void;
}

/** Makes a standby of the coordinator and starts it. */
export async function coordinatorStandby({ folder: of, ports, url }: CitusCluster): Promise<CoordinatorStandby> {
  const port = await freePorts();
  const folder = join(of, `standby${port}`);
  asPostgres(`${postgresBin}/pg_basebackup -h 127.0.0.1 -p ${ports[0]} -U postgres -D ${folder} -R -c fast -X stream`);
  const start = () => controlServer(folder, 'start', `-o '-p ${port}'`);
  start();
  return {
    url: url.replace(`:${ports[0]}/`, `:${port}/`),
    start,
    stop: () => controlServer(folder, 'stop'),
  };
}

/** Drops what `createDistributed` made. */
export async function dropDistributed(cluster: CitusCluster, database: string): Promise<void> {
  const dropped = [`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`, `DROP ROLE IF EXISTS ${database}`];
  await Promise.all(nodesOf(cluster).map((node) => statementsAt(nodeUrl(cluster, node, 'postgres'), dropped)));
}

/** Runs statements one after the other and returns what the last gave. */
export async function statementsAt(url: string, statements: readonly string[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let last!: pg.QueryResult;
    for (const statement of statements) last = await client.query(statement);
    return last;
  } finally {
    await client.end();
  }
}

/** Starts a further server beside those of a cluster, with a database that may become a worker's. */
export async function startWorker(cluster: CitusCluster, database: string): Promise<{ port: number; stop(): void }> {
  const port = await freePorts();
  const folder = join(cluster.folder, `more-${port}`);
  asPostgres(`${postgresBin}/initdb -D ${folder} -A trust -U postgres --locale=C.UTF-8 -E UTF8`);
  asPostgres(`cp ${cluster.folder}/n1/postgresql.conf ${folder} && echo port=${port} >> ${folder}/postgresql.conf`);
  controlServer(folder, 'start');
  const url = (name: string) => nodeUrl({ ...cluster, ports: [port] }, 0, name);
  await setUpNode(url('postgres'));
  await statementsAt(url('postgres'), [`CREATE DATABASE ${database}`]);
  await statementsAt(url(database), ['CREATE EXTENSION citus']);
  return {
    port,
    stop() {
      process.kill(Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGQUIT');
    },
  };
}
