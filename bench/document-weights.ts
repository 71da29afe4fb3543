import fc from 'fast-check';
import {
  type ArgumentValues,
  changed,
  documentOf,
  type Greed,
  greedyDocuments,
} from '../test/support/greedy-documents.ts';
import { pageOfBars } from './graph-cpu.ts';
import { mostMoreMb, residentMb } from './resident.ts';
import { cpuMsOf, type Served, serveSample } from './sample-server.ts';

// CPU per charged request: documents found by a search over the schema, compared with a page of 1,000 bars. A server
// over the sample market runs in a process of its own, whose time is read from the system; the database's is excluded.

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
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { sent } }),
  });
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
    const measurePage = async () => {
      const { cpuMs, requests } = (await taken(server, page, false))!;
      pages.push(cpuMs / requests);
      // The pace of the machine changes: the page is measured along with the rest.
      return pages.slice(-5).toSorted((a, b) => a - b)[Math.floor(Math.min(5, pages.length) / 2)]!;
    };
    for (let i = 0; i < 3; i++) await measurePage();
    await warm(server, page);
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
  } finally {
    await server.close();
  }
  return found;
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
