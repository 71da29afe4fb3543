import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { openAccess } from '../src/access/open-access.ts';
import { readConfig } from '../src/platform/config/config.ts';
import { openStore } from '../src/store/rows/connection.ts';
import { fill, legsASession, type Size } from './scale-data.ts';
import { ingestRates } from './scale-ingest.ts';
import { clockMs, type Question, questions, type Request } from './scale-questions.ts';
import { type Served, served } from './served.ts';

const sizes: readonly Size[] = [
  { symbols: 100, underlyings: 50 },
  { symbols: 1000, underlyings: 100 },
  { symbols: 10_000, underlyings: 500 },
].filter(({ symbols }) => symbols <= Number(process.env.SCALE_SYMBOLS ?? 10_000));
const settings = {
  RATE_PRO: '1000000',
  LOG_LEVEL: 'warn',
  SESSION_SECRET: 'a secret of a measurement, and of it alone',
};
/** Rounds of gateways that were just started, and questions of a kind to gateways that have answered them. */
const [coldRounds, warmQuestions] = [Number(process.env.SCALE_ROUNDS ?? 8), Number(process.env.SCALE_WARM ?? 200)];
const sessionCount = Number(process.env.SCALE_SESSIONS ?? 500);
const ingestRounds = 5;
/** A backend tells what it read at the latest after this long, ms. */
const statisticsMs = 11_000;

/** A database of one size, and the token that may read it all. */
interface Filled {
  size: Size;
  url: string;
  /** Connection for the database's own statistics. */
  client: pg.Client;
  token: string;
}

interface Asked extends Filled {
  gateway: Served;
  agent: http.Agent;
}

/** The database of a size on the server at `url`; made and filled where it is not there. */
async function openFilled(url: string, size: Size): Promise<Filled> {
  const name = `tapegraph_scale_${size.symbols}`;
  const server = new pg.Client(url);
  await server.connect();
  const { rowCount } = await server.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) await server.query(`CREATE DATABASE ${name}`);
  await server.end();
  const own = Object.assign(new URL(url), { pathname: `/${name}` }).toString();
  const store = await openStore({ databaseUrl: own, dataDir: '' });
  try {
    const [{ count: there }] = (await store.pool.query('SELECT count(*)::int FROM live_quotes')).rows;
    const log = (line: string) => console.log(`  ${size.symbols} symbols: ${line}`);
    if (there === 0) await fill(store, size, sessionCount, log);
    const access = await openAccess({ store, config: readConfig(settings), now: () => clockMs });
    await access.accounts.set('bench', { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
    const token = await access.sessions.create('bench', 86_400_000);
    await access.close();
    const client = new pg.Client(own);
    await client.connect();
    return { size, url: own, client, token };
  } finally {
    await store.close();
  }
}

async function start(filled: Filled, dataDir: string): Promise<Asked> {
  const clock = ['--clock', new Date(clockMs).toISOString()];
  const begin = () => served(dataDir, { ...settings, DATABASE_URL: filled.url }, clock);
  // On a machine with much else to do, a connection may take longer than a start waits for it.
  const gateway = await begin().catch(begin).catch(begin);
  return { ...filled, gateway, agent: new http.Agent({ keepAlive: true, maxSockets: 1 }) };
}

async function stop({ gateway, agent }: Asked): Promise<void> {
  agent.destroy();
  gateway.child.kill('SIGTERM');
  await gateway.exit;
}

/** Duration of a request, ms. */
function ask({ gateway, agent, token }: Asked, { path, body }: Request): Promise<number> {
  const began = performance.now();
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    const method = body ? 'POST' : 'GET';
    const request = http.request(gateway.url + path, { agent, method, headers }, async (response) => {
      let text = '';
      response.on('data', (chunk) => {
        if (text.length < 300) text += chunk;
      });
      await once(response, 'end');
      const failed = response.statusCode !== 200 || text.startsWith('{"errors"');
      if (failed) reject(new Error(`${path} answered ${response.statusCode}: ${text}`));
      else resolve(performance.now() - began);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Pages that backends of a database have looked at, in memory or on disk. */
async function pagesRead({ client }: Filled): Promise<number> {
  const { rows } = await client.query(
    'SELECT (blks_hit + blks_read)::float8 AS pages FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0].pages;
}

/** Measurements of a request at one size. */
interface Figures {
  coldMs: number[];
  warmMs: number[];
  /** Pages that the database looked at, a cold question. */
  pages: number;
}

type Results = Map<Question, Map<Size, Figures>>;

/** Beyond those that are measured: compiles documents and statements, and opens connections. */
const warmUp = 3;

/** Puts questions to gateways that were just started, each to every size in turn. */
async function askCold(asked: readonly Asked[], results: Results, round: number): Promise<void> {
  for (const question of questions) {
    const { cold, request } = question;
    // Computations over all symbols are measured at their first run.
    if (cold > 1 || question.name.startsWith('dashboard'))
      for (const each of asked) await ask(each, request(each.size, round * (cold + warmUp) + cold, -1));
    const isCounted = round === 0;
    if (isCounted) await delay(statisticsMs);
    const before = await Promise.all(asked.map(pagesRead));
    for (let nth = 0; nth < cold; nth++) {
      const turn = (round + nth) % asked.length;
      for (const each of [...asked.slice(turn), ...asked.slice(0, turn)]) {
        const figures = results.get(question)!.get(each.size)!;
        figures.coldMs.push(await ask(each, request(each.size, round * (cold + warmUp) + nth, 0)));
      }
    }
    if (!isCounted) continue;
    await delay(statisticsMs);
    for (const [i, each] of asked.entries())
      results.get(question)!.get(each.size)!.pages = ((await pagesRead(each)) - before[i]!) / cold;
  }
}

/** Puts the questions of the last round again, whose values are held. */
async function askWarm(asked: readonly Asked[], results: Results, round: number): Promise<void> {
  for (const question of questions) {
    const { cold, request } = question;
    for (let again = 1; again <= warmQuestions; again++) {
      const turn = again % asked.length;
      for (const each of [...asked.slice(turn), ...asked.slice(0, turn)]) {
        const nth = round * (cold + warmUp) + (again % cold);
        results
          .get(question)!
          .get(each.size)!
          .warmMs.push(await ask(each, request(each.size, nth, again)));
      }
    }
  }
}

/** A quantile of some values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function report(results: Results): void {
  const cell = (values: readonly number[]) =>
    `${quantile(values, 0.5).toFixed(1)} / ${quantile(values, 0.99).toFixed(1)}`;
  for (const state of ['coldMs', 'warmMs'] as const) {
    console.log(
      `\n| ${state === 'coldMs' ? 'cold' : 'warm'}: p50 / p99, ms | ${sizes.map(({ symbols }) => symbols).join(' | ')} | p50 | p99 |`,
    );
    for (const [{ name }, bySize] of results) {
      const all = sizes.map((size) => bySize.get(size)![state]);
      const ratio = (share: number) => (quantile(all.at(-1)!, share) / quantile(all[0]!, share)).toFixed(2);
      console.log(`| ${name} | ${all.map(cell).join(' | ')} | ${ratio(0.5)}× | ${ratio(0.99)}× |`);
    }
  }
  console.log('\n| pages looked at, a cold question |');
  for (const [{ name }, bySize] of results)
    console.log(`| ${name} | ${sizes.map((size) => bySize.get(size)!.pages.toFixed(0)).join(' | ')} |`);
}

/** Disk usage of the tables. */
async function reportDisk(filled: readonly Filled[]): Promise<void> {
  for (const { client, size } of filled) {
    const { rows } = await client.query(`SELECT relname AS name, reltuples::int8 AS rows, pg_table_size(oid) AS data,
        pg_indexes_size(oid) AS indexes FROM pg_class
      WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace AND relname NOT LIKE 'bench%'
        AND pg_total_relation_size(oid) > 1000000 ORDER BY relname`);
    console.log(
      `\n${size.symbols} symbols, ${size.underlyings} underlyings, ${legsASession * size.underlyings * sessionCount} legs:`,
    );
    for (const { name, rows: count, data, indexes } of rows) {
      const perRow = ((Number(data) + Number(indexes)) / Number(count)).toFixed(0);
      const [dataMb, indexMb] = [data, indexes].map((bytes) => (Number(bytes) / 1e6).toFixed(1));
      console.log(`| ${name} | ${count} rows | ${dataMb} MB | ${indexMb} MB of indexes | ${perRow} bytes a row |`);
    }
  }
}

/** Writes a session to each size in turn; the middle of the rounds. */
async function reportIngest(filled: readonly Filled[]): Promise<void> {
  const rates = new Map(filled.map((each) => [each, { bars: [] as number[], legs: [] as number[] }]));
  const stores = await Promise.all(
    filled.map(async (each) => ({ each, store: await openStore({ databaseUrl: each.url, dataDir: '' }) })),
  );
  for (let round = 0; round <= ingestRounds; round++) {
    for (const { each, store } of stores) {
      const { bars, legs } = await ingestRates(store, each.size);
      if (round === 0) continue; // prepares statements, and reads the ends of the indexes
      rates.get(each)!.bars.push(bars);
      rates.get(each)!.legs.push(legs);
    }
  }
  for (const { store } of stores) await store.close();
  for (const [{ size }, { bars, legs }] of rates) {
    const [barRate, legRate] = [bars, legs].map((each) => Math.round(quantile(each, 0.5)).toLocaleString('en-US'));
    console.log(`| ${size.symbols} symbols | ${barRate} minute bars a second | ${legRate} legs a second |`);
  }
}

/**
 * Sends the same requests to gateways over databases of three sizes on one server, alternately: their cost should not
 * depend on the size. Requires a server in DATABASE_URL on which databases may be created; they stay until they are
 * dropped.
 */
export async function scale(): Promise<void> {
  const url = process.env.DATABASE_URL;
  if (!url) throw new Error('scale: set DATABASE_URL to a server on which databases may be made');
  const dataDir = await mkdtemp(join(tmpdir(), 'tapegraph-scale-'));
  await chmod(dataDir, 0o755);
  const filled: Filled[] = [];
  try {
    for (const size of sizes) filled.push(await openFilled(url, size));
    await reportDisk(filled);
    await reportIngest(filled);
    const none = (): Figures => ({ coldMs: [], warmMs: [], pages: Number.NaN });
    const results: Results = new Map(questions.map((each) => [each, new Map(sizes.map((size) => [size, none()]))]));
    for (let round = 0; round < coldRounds; round++) {
      const asked: Asked[] = [];
      try {
        for (const each of filled) asked.push(await start(each, dataDir));
        await askCold(asked, results, round);
        console.log(`round ${round + 1} of ${coldRounds} is done`);
        if (round === coldRounds - 1) await askWarm(asked, results, round);
      } finally {
        await Promise.all(asked.map(stop));
      }
    }
    report(results);
  } finally {
    for (const { client } of filled) await client.end();
    await rm(dataDir, { recursive: true, force: true });
  }
}
