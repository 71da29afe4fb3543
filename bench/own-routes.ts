import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/platform/config/config.ts';
import { readRouteFiles } from '../src/rest/own/route-files.ts';
import { compileContract, routeTable } from '../src/rest/route-table.ts';
import { cpuMsOf, type Served, serveSample } from './sample-server.ts';
import { cpuMs, median } from './statistics.ts';

// Routes of the operator beside those of the contract that ask the same: CPU of the server per answer, over the sample
// market. And what 200 routes cost a server at its start.

const rounds = 9;
const answers = 150;
const routeCount = 200;

const quotes = `query ($symbols: [Ticker!]!) {
  quotes(symbols: $symbols) {
    rows {
      symbol spot change_pct: changePct net_gex: netGex gex_change: gexChange volume
      official_close: officialClose session_date: sessionDate event_ts_ms: eventTsMs
    }
    meta { count }
  }
}`;
const history = `query ($symbol: Ticker!, $date: SessionDate!, $top: Int) {
  symbol(symbol: $symbol) {
    gex {
      history(date: $date, top: $top) {
        symbol
        captures { captured_at: capturedAt spot net_gex: netGex strikes { strike gex call_oi: callOi put_oi: putOi } }
      }
    }
  }
}`;

/** A folder of routes, by the names of their files. */
function written(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph-routes-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function symbolsOf({ url, token }: Served): Promise<string[]> {
  const response = await fetch(`${url}/v2/symbols?limit=60`, { headers: { authorization: `Bearer ${token}` } });
  const { data } = (await response.json()) as { data: { symbol: string }[] };
  return data.map(({ symbol }) => symbol);
}

/** CPU of an answer, ms. */
async function cpuOf(served: Served, paths: readonly string[]): Promise<number> {
  const before = cpuMsOf(served);
  for (const path of paths) {
    const response = await fetch(served.url + path, { headers: { authorization: `Bearer ${served.token}` } });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
  return (cpuMsOf(served) - before) / paths.length;
}

async function compared(
  served: Served,
  what: string,
  pathOf: (base: string, i: number) => string,
  bases: [string, string],
) {
  const all: { ours: number; own: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const paths = (base: string) => Array.from({ length: answers }, (_, i) => pathOf(base, round * answers + i));
    const ours = await cpuOf(served, paths(bases[0]));
    const own = await cpuOf(served, paths(bases[1]));
    // The first round warms both up.
    if (round > 0) all.push({ ours, own });
  }
  const ratio = median(all.map(({ ours, own }) => ours / own));
  const [own, ours] = (['own', 'ours'] as const).map((name) => median(all.map((each) => each[name])).toFixed(2));
  console.log(`${what}: an own route is ${ratio.toFixed(2)}× as fast as ours (${own} and ${ours} ms of CPU)`);
}

/** Measures what many routes cost at the start. */
function compiling(): void {
  const names = Array.from({ length: routeCount }, (_, i) => `history-${i}`);
  const folder = written(
    Object.fromEntries(
      names.flatMap((name) => [
        [`${name}.graphql`, history],
        [`${name}.json`, JSON.stringify({ data: 'symbol.gex.history' })],
      ]),
    ),
  );
  const config = readConfig({});
  const contract = compileContract(config);
  const heap = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const [heapBefore, before] = [heap(), cpuMs()];
  const table = routeTable(contract, readRouteFiles(folder), config, []);
  const took = cpuMs() - before;
  console.log(
    `${table.own.length} own routes: ${(took / 1000).toFixed(2)} s of CPU at the start, ${(heap() - heapBefore).toFixed(1)} MB`,
  );
  rmSync(folder, { recursive: true });
}

/** Measures routes of the operator. */
export async function ownRoutes(): Promise<void> {
  compiling();
  const folder = written({
    'prices.graphql': quotes,
    'prices.json': JSON.stringify({ data: 'quotes.rows' }),
    'gamma.graphql': history,
    'gamma.json': JSON.stringify({ path: '/own/{symbol}/history', data: 'symbol.gex.history' }),
  });
  process.env.ROUTES_DIR = folder;
  const served = await serveSample();
  try {
    const symbols = await symbolsOf(served);
    const some = (i: number) =>
      Array.from({ length: 25 }, (_, k) => symbols[(i * 7 + k * (1 + (i % 5))) % symbols.length]!);
    await compared(served, 'quotes of 25 symbols', (base, i) => `${base}?symbols=${[...new Set(some(i))].join(',')}`, [
      '/v2/quotes',
      '/own/prices',
    ]);
    const chains = symbols.slice(0, 4);
    await compared(
      served,
      'GEX history of a session',
      (base, i) => `${base.replace('SYMBOL', chains[i % chains.length]!)}?date=2026-11-19&top=${1 + (i % 40)}`,
      ['/v2/gex/SYMBOL/history', '/own/SYMBOL/history'],
    );
  } finally {
    await served.close();
    delete process.env.ROUTES_DIR;
    rmSync(folder, { recursive: true });
  }
}
