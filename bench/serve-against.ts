// Compares the cost of answers in this tree with another's: `node bench/serve-against.ts TREE OURS THEIRS [ROUNDS]`.
// CPU time of the worker for the same requests, no two alike, to servers of both trees in turn. `OURS` and `THEIRS`
// are data folders, one for each tree, in which `serve --sample` has stored all of the sample market.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exchangeInstant } from '../src/core/domain/market-time.ts';
import { type Served, serveSample } from './sample-server.ts';
import { median } from './statistics.ts';

const session = '2026-11-19';
const [fromMs, toMs] = [exchangeInstant('2026-11-16', 240), exchangeInstant(session, 1200)];
const symbols = ['SPY', 'QQQ', 'AAPL', 'MSFT', 'NVDA', 'AMD', 'META', 'SPX'];
/** Answers that warm a server up, and of a round. */
const [warmingTimes, times] = [250, 60];

/** A tree's server, and the document of its own dashboard. */
interface Tree {
  served: Served;
  dashboardQuery: string;
}

/** A request, with the number of those before it, which makes it another one. */
type Question = (tree: Tree, asked: number) => [path: string, body?: object];

const symbolOf = (asked: number) => symbols[asked % symbols.length]!;

const questions: Readonly<Record<string, Question>> = {
  'a page of 1,000 minute bars (REST)': (_, asked) => [
    `/v2/stocks/${symbolOf(asked)}/bars?from=${fromMs - asked}&to=${toMs}&tf=1m&limit=1000`,
  ],
  'quotes of eight symbols (REST)': (_, asked) => [`/v2/quotes?symbols=${symbols.join(',')}&asked=${asked}`],
  "the dashboard's document": ({ dashboardQuery }, asked) => [
    '/graphql',
    {
      query: dashboardQuery,
      variables: {
        symbol: symbolOf(asked),
        past: false,
        sessionAt: session,
        timeframe: '1m',
        quotes: symbols,
        from: String(exchangeInstant(session, 240) - asked),
        to: String(toMs),
        activityFrom: '2026-09-01',
        dailyFrom: '2025-11-20',
        dailyTo: '2026-11-20',
        lists: true,
        flow: true,
        activity: true,
        heat: true,
        trades: true,
        volatility: true,
        offExchange: true,
        session,
        flowSession: session,
        offFrom: '2026-10-20',
        offTo: '2026-11-20',
      },
    },
  ],
};

async function openTree(folder: string, dataDir: string): Promise<Tree> {
  const operations = join(folder, 'src/pages/dashboard/client/data/operations.ts');
  const { dashboardQuery } = await import(pathToFileURL(operations).href);
  return { served: await serveSample(dataDir, folder), dashboardQuery };
}

let asked = 0;

async function ask(tree: Tree, question: Question): Promise<void> {
  const [path, body] = question(tree, asked++);
  const send = () =>
    fetch(`${tree.served.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${tree.served.token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  // A connection that was idle may just have been closed.
  const response = await send().catch(send);
  const text = await response.text();
  if (!response.ok || /"errors":\[/.test(text)) throw new Error(`${path} answered ${text.slice(0, 1000)}`);
}

/** CPU of each server for an answer, ms. They are asked in turn: what else the machine does slows both alike. */
async function costsOf(trees: readonly [Tree, Tree], question: Question): Promise<[ours: number, theirs: number]> {
  const states = async () => (await Promise.all(trees.map(({ served }) => served.state()))).map(({ cpuMs }) => cpuMs);
  const before = await states();
  for (let i = 0; i < times; i++) for (const index of i % 2 === 0 ? [0, 1] : [1, 0]) await ask(trees[index]!, question);
  const [ours, theirs] = (await states()).map((cpuMs, i) => (cpuMs - before[i]!) / times);
  return [ours!, theirs!];
}

/** The speed of this tree by that of the other: CPU time there over CPU time here, median of the rounds. */
async function compare(trees: readonly [Tree, Tree], name: string, question: Question, rounds: number): Promise<void> {
  for (let i = 0; i < warmingTimes; i++) for (const tree of trees) await ask(tree, question);
  const costs: [ours: number, theirs: number][] = [];
  for (let round = 0; round < rounds; round++) costs.push(await costsOf(trees, question));
  const ratios = costs.map(([ours, theirs]) => theirs / ours);
  const here = median(costs.map(([ours]) => ours));
  const shown = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
  console.log(`${name}\n  ${median(ratios).toFixed(3)}× (${shown}), ${here.toFixed(2)} CPU ms here`);
}

const [folder, ours, theirs, roundsText = '9'] = process.argv.slice(2);
if (folder === undefined || ours === undefined || theirs === undefined)
  throw new Error('usage: node bench/serve-against.ts TREE OURS THEIRS [ROUNDS]');
const here = await openTree(resolve(import.meta.dirname, '..'), resolve(ours));
const there = await openTree(resolve(folder), resolve(theirs));
try {
  for (const [name, question] of Object.entries(questions))
    await compare([here, there], name, question, Number(roundsText));
} finally {
  for (const { served } of [here, there]) await served.close();
}
