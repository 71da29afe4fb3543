// Compares the cost of ingest in this tree with another's: `node bench/ingest-against.ts TREE [ROUNDS] [DATASET=FILE
// …]`. CPU time of `ingest` of the same files, by the two trees alternately, each into a new copy of its empty migrated
// store. `follow=SECONDS` follows a live tape for so long.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { minuteFile } from '../src/intake/sample/market/bar-files.ts';
import { chainFile, sessionChain } from '../src/intake/sample/market/chain-file.ts';
import { sampleShape } from '../src/intake/sample/market/plan.ts';
import { type SamplePrices, samplePrices } from '../src/intake/sample/market/prices.ts';
import { stockTapeFile } from '../src/intake/sample/market/stock-tape-file.ts';
import { sampleSymbolOf } from '../src/intake/sample/market/universe.ts';
import type { FeedOrder } from './live-feed.ts';
import type { FollowerEnd } from './live-follower.ts';
import { median } from './statistics.ts';
import { tapeFile } from './tape-file.ts';
import { tapeSession } from './tape-market.ts';

/** Prints of the simulated tapes, about. */
const tapePrints = 300_000;
const chainMinute = 15 * 60;
/** The live tape, and for how long it is followed, s. */
const liveTape = { printsPerSecond: 5000, contracts: 2000 };
const liveSeconds = 20;

/** A file that is ingested; of a live tape, its seconds. */
interface Input {
  dataset: string;
  path: string;
}

function chainText(prices: SamplePrices, symbol: string): string {
  return chainFile(prices, sessionChain(prices, sampleSymbolOf(symbol), tapeSession), chainMinute);
}

// Contents of the simulated files except the option tape, which has thousands of contracts.
const simulated: Readonly<Record<string, { dataset: string; text(prices: SamplePrices): string }>> = {
  'stock-trades': {
    dataset: 'stock-trades',
    text: (prices) => stockTapeFile(prices, tapeSession, Infinity, sampleShape.tape),
  },
  'stock-minute-bars': { dataset: 'stock-minute-bars', text: (prices) => minuteFile(prices, tapeSession, Infinity) },
  'chain-SPX': { dataset: 'chain', text: (prices) => chainText(prices, 'SPX') },
  'chain-SPY': { dataset: 'chain', text: (prices) => chainText(prices, 'SPY') },
};

/** The simulated files, each written once. */
async function simulatedFiles(): Promise<Input[]> {
  const folder = join(tmpdir(), 'tapegraph-bench-tapes');
  mkdirSync(folder, { recursive: true });
  const prices = samplePrices();
  const files = Object.entries(simulated).map(([name, { dataset, text }]) => {
    const path = join(folder, `${name}-${tapeSession}.csv.gz`);
    if (!existsSync(path)) {
      writeFileSync(`${path}.part`, gzipSync(text(prices)));
      renameSync(`${path}.part`, path);
    }
    return { dataset, path };
  });
  const followed = { dataset: 'follow', path: String(liveSeconds) };
  return [{ dataset: 'option-trades', path: await tapeFile(tapePrints) }, ...files, followed];
}

/** A tree, and the databases that its runs use. */
interface Tree {
  folder: string;
  template: string;
  copy: string;
}

const server = process.env.DATABASE_SERVER ?? 'postgres://postgres@127.0.0.1:5432';

async function sql(text: string): Promise<void> {
  const client = new pg.Client(`${server}/postgres`);
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** CPU seconds that a command of a tree takes, with its threads and processes; PostgreSQL's are not among them. */
function cpuSeconds({ folder }: Tree, database: string, command: readonly string[]): number {
  const env = { ...process.env, DATABASE_URL: `${server}/${database}` };
  const timed = 'TIMEFORMAT="%U %S"; { time "$@" > /dev/null 2>&3; } 2>&1';
  const node = [process.execPath, 'src/main.ts', ...command];
  // The command's messages about failures are shown; the shell's status is that of the command.
  const output = execFileSync('bash', ['-c', `exec 3>&2; ${timed}`, 'bash', ...node], { cwd: folder, env });
  const [user, system] = output.toString().trim().split(/\s+/).map(Number);
  return user! + system!;
}

async function openTree(folder: string, name: string): Promise<Tree> {
  const template = `bench_${process.pid}_${name}`;
  const tree = { folder: resolve(folder), template, copy: `${template}_copy` };
  await sql(`CREATE DATABASE ${template}`);
  cpuSeconds(tree, template, ['migrate']);
  return tree;
}

async function closeTree({ template, copy }: Tree): Promise<void> {
  for (const database of [copy, template]) await sql(`DROP DATABASE IF EXISTS ${database}`);
}

/** CPU seconds that a tree's follower takes for a live tape, which its feeder sends in real time. */
async function followCost({ folder, copy }: Tree, seconds: number): Promise<number> {
  const follower = fork(join(folder, 'bench/live-follower.ts'), [tmpdir()], {
    env: { ...process.env, DATABASE_URL: `${server}/${copy}` },
  });
  const end: Partial<FollowerEnd> = {};
  follower.on('message', (message: object) => Object.assign(end, message));
  const aheadMs = exchangeInstant(tapeSession, 600) - Date.now();
  follower.send({ ...liveTape, seconds, aheadMs } satisfies FeedOrder);
  await once(follower, 'exit');
  if (end.cpuMs === undefined) throw new Error('the follower ended before its tape');
  return end.cpuMs / 1000;
}

async function costOf(tree: Tree, { dataset, path }: Input): Promise<number> {
  await sql(`DROP DATABASE IF EXISTS ${tree.copy}`);
  await sql(`CREATE DATABASE ${tree.copy} TEMPLATE ${tree.template}`);
  return dataset === 'follow' ? followCost(tree, Number(path)) : cpuSeconds(tree, tree.copy, ['ingest', dataset, path]);
}

const inTwoDecimals = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(' ');

/** The speed of this tree by that of the other: CPU time there over CPU time here, median of the rounds. */
async function compare(ours: Tree, theirs: Tree, input: Input, rounds: number): Promise<void> {
  const costs: { ours: number; theirs: number }[] = [];
  // The first round warms the caches of files.
  for (let round = 0; round <= rounds; round++) {
    const oursFirst = round % 2 === 0;
    const first = await costOf(oursFirst ? ours : theirs, input);
    const second = await costOf(oursFirst ? theirs : ours, input);
    const cost = oursFirst ? { ours: first, theirs: second } : { ours: second, theirs: first };
    if (round > 0) costs.push(cost);
  }
  const ratios = costs.map((cost) => cost.theirs / cost.ours);
  const here = median(costs.map((cost) => cost.ours));
  console.log(
    `${input.dataset} ${input.path}\n  ${median(ratios).toFixed(3)}× (${inTwoDecimals(ratios)}), ${here.toFixed(2)} CPU s here`,
  );
}

const [folder, roundsText = '5', ...given] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node bench/ingest-against.ts TREE [ROUNDS] [DATASET=FILE …]');
const inputs = given.map((each) => {
  const [dataset, path] = each.split('=', 2) as [string, string];
  return { dataset, path: dataset === 'follow' ? path : resolve(path) };
});
const [ours, theirs] = [await openTree('.', 'ours'), await openTree(folder, 'theirs')];
try {
  for (const input of inputs.length > 0 ? inputs : await simulatedFiles())
    await compare(ours, theirs, input, Number(roundsText));
} finally {
  for (const tree of [ours, theirs]) await closeTree(tree);
}
