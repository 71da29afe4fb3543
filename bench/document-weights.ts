import fc from 'fast-check';
import {
  type ArgumentValues,
  changed,
  documentOf,
  type Greed,
  greedyDocuments,
  paths,
} from '../test/support/greedy-documents.ts';
import { pageOfBars } from './graph-cpu.ts';
import { cachedMb, mostMoreMb, residentMb, returnedMb } from './resident.ts';
import { cpuMsOf, type Served, serveSample } from './sample-server.ts';

// CPU per charged request, compared with a page of 1,000 bars: of every list field below pages of symbols and of
// contracts, below many names, and as of many instants (the sweep); and of documents found by a search over the schema.
// A server over the sample market runs in a process of its own, whose time is read; the database's is excluded.

const [session, next] = ['2026-11-19', '2026-11-20'];

/** Documents of the search, and changes of the dearest. */
const documents = Number(process.env.SEARCH_COUNT ?? 150);
const seed = Number(process.env.SEARCH_SEED ?? 20261120);
/**
 * Minimum CPU time of the server over which a document is repeated, because the system reports hundredths of a second.
 */
const leastCpuMs = 300;
const mostTimes = 60;
const mostRequests = 60;

const values: ArgumentValues = {
  symbol: ['"SPY"', '"SPX"', '"AAPL"', '"QQQ"'],
  symbols: ['["SPY"]', '["SPY" "QQQ" "AAPL" "MSFT" "NVDA" "AMD" "INTC" "CSCO" "ORCL" "META" "NFLX" "DIS" "T" "AMZN"]'],
  'contract.id': ['"O:SPY261120C00630000"'],
  'watchlist.id': ['"none"'],
  'history.from': [],
  'history.to': [],
  OptionTimeframe: ['"1m"', '"5m"'],
  q: ['"SPY"'],
  plane: ['live'],
  from: [`"${session}"`, '"2025-01-01"'],
  to: [`"${next}"`],
  date: [`"${session}"`],
  session: [`"${session}"`],
  time: [`"${session}"`],
  timeframe: ['"1m"', '"1d"', '"5m"'],
  minPremiumUsd: ['0'],
};

/** Ways to a field by which much is read at once: its parents, its own names, instants of event and of knowledge. */
const sweeps = {
  symbols: { from: ['symbols', 'nodes'], copied: null },
  contracts: { from: ['symbol', 'contracts', 'nodes'], copied: null },
  names: { from: ['symbol'], copied: 1 },
  at: { from: ['asOf', 'symbol'], copied: 0 },
  known: { from: ['asOf', 'symbol'], copied: 0 },
} as const;

/** Ways that are swept. */
const ways = (process.env.SWEEP_WAYS?.split(',') ?? Object.keys(sweeps)) as (keyof typeof sweeps)[];
/** Numbers of names that are tried: the most that is answered counts. */
const namesTried = [100, 30, 10, 3, 1];
/** Most that a document of the sweep may cost: the minute of a pro key. */
const mostRequestsSwept = 600;
/** Times that a document of the sweep is measured, whose middle counts. */
const sweepTimes = 3;
const leastSweepMs = 20;
/** Time after which the page is measured again, because the pace of the machine changes, ms. */
const pageAgeMs = 5000;
/** Most that a document may take for a charge, over the page, and block the event loop for, ms of CPU. */
const [mostRatio, mostTurnMs] = [3, 100];
/** Most memory that the sweep may leave, MB. */
const mostLeftMb = 50;

/** Documents as new ones, which nobody has sent before, and as ones that come again. */
const manners = ['again', 'new'] as const;

interface Taken {
  manner: (typeof manners)[number];
  greeds: readonly Greed[];
  document: string;
  /** CPU time of one answer, ms. */
  cpuMs: number;
  requests: number;
  /** CPU time per charged request, over the page's. */
  ratio: number;
}

let sent = 0;

/** Sends a document; null if it is rejected. Variables that it does not have prevent a cached answer. */
async function ask({ url, token }: Served, document: string, isNew: boolean): Promise<number | null> {
  sent += 1;
  const query = isNew ? document.replace('query Greedy', `query Greedy${sent}`) : document;
  const send = () =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { sent } }),
    });
  // A connection that was idle may just have been closed.
  const response = await send().catch(send);
  const text = await response.text();
  const cost = /"extensions":\{"cost":\{"requests":(\d+)/.exec(text);
  return cost ? Number(cost[1]) : null;
}

/** CPU of the server for one answer, and its charge; null for a rejected document. */
async function taken(server: Served, document: string, isNew: boolean) {
  let requests = await ask(server, document, isNew);
  if (requests === null || requests > mostRequests) return null;
  if (!isNew) for (let i = 0; i < 3; i++) await ask(server, document, isNew);
  const before = cpuMsOf(server);
  let times = 0;
  while (times < mostTimes && cpuMsOf(server) - before < leastCpuMs) {
    requests = (await ask(server, document, isNew)) ?? requests;
    times += 1;
  }
  return { cpuMs: (cpuMsOf(server) - before) / times, requests };
}

/** Documents of which the dearest are sent again before memory is read, and how often each is. */
const [dearestCount, againTimes] = [12, 20];

/** Reads the page until the heap has grown to what ordinary requests take. */
async function warm(server: Served, page: string): Promise<void> {
  for (let i = 0; i < 1500; i++) await ask(server, page, false);
}

/** Memory that the documents with the most CPU, per request and in all, leave behind, MB. */
async function leftBehind(server: Served, found: readonly Taken[], beforeMb: number): Promise<number> {
  const by = (of: (taken: Taken) => number) => found.toSorted((a, b) => of(b) - of(a)).slice(0, dearestCount / 2);
  for (const { document, manner } of [...by(({ ratio }) => ratio), ...by(({ cpuMs }) => cpuMs)])
    for (let i = 0; i < againTimes; i++) await ask(server, document, manner === 'new');
  return (await residentMb(server, `after the dearest documents, ${againTimes} times each`)) - beforeMb;
}

/**
 * Looks for documents that take more CPU for a request than a page of bars, and reads what memory the dearest leave
 * behind.
 */
export async function documentWeights(): Promise<Taken[]> {
  const server = await serveSample();
  const found: Taken[] = [];
  try {
    const page = pageOfBars('2026-11-10', next).replace('{', 'query Greedy {');
    const pages: number[] = [];
    let measuredMs = -Infinity;
    const measurePage = async () => {
      if (performance.now() - measuredMs > pageAgeMs) {
        const { cpuMs, requests } = (await taken(server, page, false))!;
        pages.push(cpuMs / requests);
        measuredMs = performance.now();
      }
      return middle(pages.slice(-5));
    };
    await warm(server, page);
    const beforeMb = (await server.state()).rss / 2 ** 20 - (await cachedMb(server));
    const fields = await swept(server, measurePage);
    const leftMb = (await returnedMb(server)) - beforeMb;
    const heldMb = await cachedMb(server);
    console.log(
      `memory a minute after the sweep: ${leftMb.toFixed(0)} MB more than before, besides ${heldMb.toFixed(0)} MB in caches`,
    );
    const measure = async (greeds: readonly Greed[]) => {
      const document = documentOf(greeds, values);
      for (const manner of manners) {
        const one = await taken(server, document, manner === 'new');
        if (!one) return;
        found.push({ manner, greeds, document, ...one, ratio: one.cpuMs / one.requests / (await measurePage()) });
        // A search takes minutes; what is found so far is of use if it is stopped.
        if (found.length % 25 === 0) report(found, pages, 1);
      }
    };
    const first = fc.sample(greedyDocuments, { seed, numRuns: documents });
    for (const greeds of first) await measure(greeds);
    for (let round = 0; round < documents; round++) {
      const best = found.sort((a, b) => b.ratio - a.ratio)[round % 6]!;
      await measure(changed(best.greeds, first[round % first.length]![0]!, round));
    }
    // One that another process slowed down looks dear: the dearest are measured twice more, and their middle counts.
    for (const one of found.toSorted((a, b) => b.ratio - a.ratio).slice(0, 6)) {
      const ratios = [one.ratio];
      for (let i = 0; i < 2; i++) {
        const more = (await taken(server, one.document, one.manner === 'new'))!;
        ratios.push(more.cpuMs / more.requests / (await measurePage()));
      }
      one.ratio = ratios.sort((a, b) => a - b)[1]!;
    }
    report(found, pages);
    // The search has filled the caches, which have bounds: what grows beyond them would be held by nobody.
    const moreMb = await leftBehind(server, found, await residentMb(server, 'after the search'));
    if (moreMb > mostMoreMb) throw new Error(`not held: ${moreMb.toFixed(0)} MB more, at most ${mostMoreMb}`);
    if (leftMb > mostLeftMb) throw new Error(`not returned: ${leftMb.toFixed(0)} MB, at most ${mostLeftMb}`);
    const over = fields.filter(({ ratio, turnMs }) => ratio > mostRatio || turnMs > mostTurnMs);
    if (over.length > 0)
      throw new Error(`over the bounds: ${over.map(({ way, field }) => `${way} ${field}`).join(', ')}`);
  } finally {
    await server.close();
  }
  return found;
}

const days = ['2026-11-12', '2026-11-13', '2026-11-16', '2026-11-17', '2026-11-18', session];

/** Instants of knowledge and of events, each another; the market is stored before. */
function instants(nowMs: number): { known: string[]; at: string[] } {
  const many = Array.from({ length: namesTried[0]! }, (_, i) => i);
  return {
    known: many.map((i) => `"${nowMs - 1000 - 20 * i}"`),
    at: many.map((i) => `"${Date.parse(`${days[i % days.length]}T15:00:00-05:00`) + 1000 * i}"`),
  };
}

/** The shortest path to each field below the start of a way. */
function shortest(from: readonly string[]): number[] {
  const found = new Map<string, number>();
  const byLength = paths.map((path, index) => ({ path, index })).sort((a, b) => a.path.length - b.path.length);
  for (const { path, index } of byLength) {
    if (path.length <= from.length || from.some((name, i) => path[i]!.field.name !== name)) continue;
    const [above, last] = path.slice(-2);
    const name = `${above!.type.name}.${last!.field.name} ${last!.type.name}`;
    if (!found.has(name)) found.set(name, index);
  }
  return [...found.values()];
}

/** A document of the sweep. */
interface Swept {
  way: string;
  field: string;
  names: number;
  document: string;
  cpuMs: number;
  turnMs: number;
  requests: number;
  ratio: number;
}

/** The middle of values. */
const middle = (all: readonly number[]) => all.toSorted((a, b) => a - b)[all.length >> 1]!;

/** CPU and longest turn of a document as a new one; null if it is rejected, or more than a minute of a pro key. */
async function sweptOne(server: Served, document: string, pageMs: () => Promise<number>) {
  const runs: { cpuMs: number; turnMs: number }[] = [];
  let requests = 0;
  for (let run = 0; run < sweepTimes; run++) {
    const { cpuMs: before } = await server.state('watch');
    requests = (await ask(server, document, true)) ?? Infinity;
    if (requests > mostRequestsSwept) return null;
    let now = await server.state();
    const turnMs = now.longestTurnMs;
    let times = 1;
    for (; now.cpuMs - before < leastSweepMs && times < 10; times++) {
      await ask(server, document, true);
      now = await server.state();
    }
    runs.push({ cpuMs: (now.cpuMs - before) / times, turnMs });
  }
  const cpuMs = middle(runs.map((run) => run.cpuMs));
  const turnMs = middle(runs.map((run) => run.turnMs));
  return { document, cpuMs, turnMs, requests, ratio: cpuMs / requests / (await pageMs()) };
}

/** Asks for each field on each way, as often as is answered. Each way is printed when it is done. */
async function swept(server: Served, pageMs: () => Promise<number>): Promise<Swept[]> {
  const found: Swept[] = [];
  const quotes = await fetch(`${server.url}/v2/quotes?symbols=SPY`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  const dated = instants(Number(quotes.headers.get('x-read-at')));
  for (const way of ways) {
    const ofWay = await sweptWay(server, way, dated, pageMs);
    reportSwept(way, ofWay);
    found.push(...ofWay);
  }
  return found;
}

/** Asks for each field on one way. */
async function sweptWay(
  server: Served,
  way: keyof typeof sweeps,
  { known, at }: ReturnType<typeof instants>,
  pageMs: () => Promise<number>,
): Promise<Swept[]> {
  const { from, copied } = sweeps[way];
  const found: Swept[] = [];
  const dates = days.map((day) => `"${day}"`);
  const own: ArgumentValues = {
    'asOf.at': way === 'at' ? at : [],
    'asOf.known': way === 'known' ? known : [],
    'asOf.tz': [],
    ...(way === 'names' ? { at, time: at, from: dates, date: dates } : {}),
  };
  for (const path of shortest(from)) {
    const field = paths[path]!.map((step) => step.field.name).join('.');
    for (const names of copied === null ? [1] : namesTried) {
      const copies = Array.from({ length: paths[path]!.length }, (_, up, all = paths[path]!) =>
        copied === all.length - 1 - up ? names : 1,
      );
      const greed: Greed = {
        path,
        copies,
        names: 1,
        values: 1,
        nameLength: 1,
        rows: 'most',
        argument: 0,
        byExpiry: true,
        fragments: false,
        variables: false,
      };
      const one = await sweptOne(server, documentOf([greed], { ...values, ...own }), pageMs);
      if (!one) continue;
      found.push({ way, field, names, ...one });
      break;
    }
  }
  // One that another process slowed down looks dear: what is above a bound counts by its middle of three.
  for (const one of found.filter(({ ratio, turnMs }) => ratio > mostRatio || turnMs > mostTurnMs)) {
    const more = [one, ...(await twice(() => sweptOne(server, one.document, pageMs)))];
    one.ratio = middle(more.map(({ ratio }) => ratio));
    one.turnMs = middle(more.map(({ turnMs }) => turnMs));
  }
  return found;
}

async function twice<T>(work: () => Promise<T | null>): Promise<T[]> {
  const done = [await work(), await work()];
  return done.filter((each) => each !== null);
}

function reportSwept(way: string, found: readonly Swept[]): void {
  console.log(`${found.length} documents of ${way}: CPU of a request over the page's, and in one turn, dearest first`);
  const dearest = found.toSorted((a, b) => b.ratio - a.ratio).slice(0, 10);
  const longest = found.toSorted((a, b) => b.turnMs - a.turnMs).slice(0, 5);
  for (const { field, names, cpuMs, turnMs, requests, ratio } of new Set([...dearest, ...longest])) {
    const asked = names > 1 ? `${names} × ${field}` : field;
    console.log(
      `${way.padEnd(9)} ${ratio.toFixed(2)}, ${turnMs.toFixed(0)} ms (${cpuMs.toFixed(1)} ms, ${requests} requests) ${asked}`,
    );
  }
}

function report(found: readonly Taken[], pages: readonly number[], most = 8): void {
  const middle = pages.toSorted((a, b) => a - b)[Math.floor(pages.length / 2)]!;
  console.log(
    `CPU of a request, over that of a page of 1,000 bars (${middle.toFixed(1)} ms), of ${found.length} answers`,
  );
  for (const manner of manners) {
    const of = found.filter((each) => each.manner === manner).sort((a, b) => b.ratio - a.ratio);
    for (const { ratio, cpuMs, requests, document } of of.slice(0, most)) {
      const shown = document.replaceAll(/_+/g, '').slice(0, 300);
      console.log(`${manner.padEnd(6)} ${ratio.toFixed(2)} (${cpuMs.toFixed(1)} ms, ${requests} requests) ${shown}`);
    }
  }
}
