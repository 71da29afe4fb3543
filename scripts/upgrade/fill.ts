// Fills a store with a release of the past: a sample market, vendor files, accounts, keys, seals, watchlists and a
// journal.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Settings, startGateway } from '../own-gateway.ts';

/** The time by the clocks of the commands that fill: a morning, when the session before is reconciled. */
export const fillClock = '2026-11-20T07:30:00-05:00';
/** A time at which the vendor files' stock bars are the latest, and none is in progress. */
export const barsClock = '2019-02-15T19:00:00-05:00';

/** Steps that one process of the release runs. */
export interface Steps {
  env: Settings;
  nowMs: number;
  /** Size of a sample market to load first, in the release's terms; null: none. */
  shape: object | null;
  commands: string[][];
}

/** Credentials made for the questions: those of a caller who may read everything, and of one who may read little. */
export interface Filled {
  /** Site sessions, by the clock at which they hold. */
  sessions: Record<string, string>;
  proKey: string;
  freeKey: string;
}

// The sample market of `serve --sample`, in small.
const smallSample = {
  barSessions: 2,
  chainSessions: 2,
  historySessions: 12,
  captureEveryMinutes: 130,
  tapeSessions: 2,
  tape: { optionPrints: 2000, plants: 56, stockPrints: 3000, symbols: ['SPX', 'SPY', 'NVDA', 'TSLA'] },
};

// Beside the project, where there are any (test/support/shared-data.ts).
const shared = resolve(process.env.TAPEGRAPH_SHARED_DATA ?? join(import.meta.dirname, '../../../shared/data'));
const someFiles: [dataset: string, pattern: string][] = [
  ['stock-day-bars', 'stocks_day_aggs/2019-0*.csv.gz'],
  ['stock-minute-bars', 'stocks_minute_aggs/2019-02-1[45].csv.gz'],
  ['option-minute-bars', 'options_minute_aggs/AAPL/2014-06-06.csv.gz'],
  ['open-interest', 'options_open_interest/AAPL/2014-06-06.csv.gz'],
  ['chain', 'chains_cboe/spy_20250501T1649.csv.gz'],
  ['chain', 'chains_cboe/rut_20230921_delayed_quotes.json.gz'],
  ['stock-trades', 'stocks_trades/IBM/2013-10-1?.csv.gz'],
];
const allFiles: typeof someFiles = [
  ['stock-day-bars', 'stocks_day_aggs/*.csv.gz'],
  ['stock-minute-bars', 'stocks_minute_aggs/*.csv.gz'],
  ['option-minute-bars', 'options_minute_aggs/AAPL/*.csv.gz'],
  ['open-interest', 'options_open_interest/AAPL/*.csv.gz'],
  ['chain', 'chains_cboe/*.csv.gz'],
  ['chain', 'chains_cboe/*.json.gz'],
  ['stock-trades', 'stocks_trades/*/*.csv.gz'],
];

const runner = fileURLToPath(new URL('./in-release.ts', import.meta.url));

/** Runs steps in one process of the release; what each command printed. */
async function runSteps(release: string, steps: Steps): Promise<Record<string, unknown>[]> {
  const child = spawn(process.execPath, [runner, release], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(JSON.stringify(steps));
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`release ${release} failed to fill the store: ${err.slice(-2000)}`);
  return JSON.parse(out);
}

const mainOf = (release: string) => join(release, 'src', 'main.ts');

/** The release's gateway on a store, by a clock. */
export const startRelease = (release: string, settings: Settings, clock: string, logFile: string) =>
  startGateway(settings, ['--clock', clock], logFile, mainOf(release));

function commandsOf(everything: boolean): string[][] {
  const files = existsSync(join(shared, 'README.md')) ? (everything ? allFiles : someFiles) : [];
  return [
    ...files.map(([dataset, pattern]) => ['ingest', dataset, join(shared, pattern), '--max-errors', '100000']),
    [
      'account',
      'set',
      'reader',
      ...['--site-tier', 'pro', '--api-tier', 'pro', '--classification', 'non_professional'],
    ],
    ['account', 'set', 'visitor'],
    ...(files.length > 0 ? [['seal', '--session', '2013-10-10', '--symbols', 'IBM']] : []),
    ['seal', '--session', '2026-11-18'],
    // The last ones, in this order, are read by `fillStore`.
    ['key', 'create', '--account', 'reader', '--name', 'Reader'],
    ['key', 'create', '--account', 'visitor'],
    ...[fillClock, barsClock].map((clock) => ['session', 'create', '--account', 'reader', '--clock', clock]),
  ];
}

async function send(url: string, secret: string, method: string, path: string, body: object | string): Promise<void> {
  const isText = typeof body === 'string';
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': isText ? 'text/plain' : 'application/json' },
    body: isText ? body : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
}

async function writeAccountData(url: string, session: string): Promise<void> {
  const put = (method: string, path: string, body: object | string) => send(url, session, method, path, body);
  const trade = { account_id: 'paper', symbol: 'SPY', side: 'buy', qty: 10, price: 636.5 };
  await put('PUT', '/v2/watchlists/funds', { name: 'Index funds', symbols: ['SPY', 'QQQ'] });
  await put('PUT', '/v2/watchlists/none', { name: 'é✓ "quoted", empty', symbols: [] });
  await put('POST', '/v2/journal/accounts', { id: 'paper', name: 'Paper', broker: 'Own' });
  for (const [i, side] of ['buy', 'sell', 'buy'].entries())
    await put('POST', '/v2/journal/trades', { ...trade, side, qty: 0.5 + i, note: i === 0 ? 'two\r\nlines' : null });
  const lines = ['buy', 'sell'].map((side, i) => JSON.stringify({ id: `t${i}`, ...trade, account_id: 'main', side }));
  await put('POST', '/v2/journal/import?import_id=first', `${lines.join('\n')}\n`);
  await put('POST', '/v2/account/keys', { name: 'Laptop' });
}

type Key = { key: string };
type Token = { token: string };

/** Fills an empty store; `everything`: the whole sample market and every vendor file, which takes minutes. */
export async function fillStore(
  release: string,
  settings: Settings,
  { everything, logFile }: { everything: boolean; logFile: string },
): Promise<Filled> {
  const nowMs = Date.parse(fillClock);
  if (everything) {
    const args = ['--sample', '--clock', fillClock];
    await (await startGateway(settings, args, logFile, mainOf(release))).stop();
  }
  const shape = everything ? null : smallSample;
  const results = await runSteps(release, { env: settings, nowMs, shape, commands: commandsOf(everything) });
  const [proKey, freeKey, ...tokens] = results.slice(-4) as [Key, Key, ...Token[]];
  const sessions = { [fillClock]: tokens[0]!.token, [barsClock]: tokens[1]!.token };
  const gateway = await startRelease(release, settings, fillClock, logFile);
  try {
    await writeAccountData(gateway.url, sessions[fillClock]!);
  } finally {
    await gateway.stop();
  }
  return { sessions, proKey: proKey.key, freeKey: freeKey.key };
}
