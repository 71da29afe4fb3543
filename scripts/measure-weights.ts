// Measures what the graph's fields cost on the sample market, in points, beside what they declare (docs/cost.md):
//   node scripts/measure-weights.ts [--data FOLDER] [--only TEXT]
// FOLDER holds a sample market that `serve --sample --clock 2026-11-20T07:30:00-05:00` brought; without it one is
// brought first, which takes some minutes. A ratio over 2 or under 0.5 is drift: change the field's `costs`. The exit
// code is 1 when there is some.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { type GraphCpu, openGraphCpu, pageOfBars, type Run } from '../bench/graph-cpu.ts';
import { costOf } from '../src/schema/cost.ts';
import { schema } from '../src/schema/index.ts';
import { untilLoaded } from './own-gateway.ts';

const clock = '2026-11-20T07:30:00-05:00';
const [session, next] = ['2026-11-19', '2026-11-20'];

/** Ways to select a field of a type for a number of parents. */
const ways: Record<string, (field: string, parents: number) => string> = {
  Query: (field) => `{ ${field} }`,
  Symbol: (field, parents) =>
    parents === 1 ? `{ symbol(symbol: "SPY") { ${field} } }` : `{ symbols(first: ${parents}) { nodes { ${field} } } }`,
  SymbolGex: (field, parents) => ways.Symbol!(`gex { ${field} }`, parents),
  SymbolFlow: (field, parents) => ways.Symbol!(`flow { ${field} }`, parents),
  LargeTradesMeta: (field, parents) => ways.SymbolFlow!(`largeTrades(limit: 1) { meta { ${field} } }`, parents),
  SymbolVolatility: (field, parents) => ways.Symbol!(`volatility { ${field} }`, parents),
  SymbolOffExchange: (field, parents) => ways.Symbol!(`offExchange { ${field} }`, parents),
  StockBarsPage: (field, parents) =>
    ways.Symbol!(`bars(from: "${session}", to: "${next}", limit: 1) { ${field} }`, parents),
  OptionContract: (field, parents) =>
    `{ symbol(symbol: "SPY") { contracts(first: ${parents}) { nodes { ${field} } } } }`,
  Greeks: (field, parents) => ways.OptionContract!(`greeks { ${field} }`, parents),
  GexStrike: (field, parents) =>
    `{ symbol(symbol: "SPY") { gex { latest(topStrikes: ${parents}) { strikes { ${field} } } } } }`,
  StrikeFlow: (field) => ways.SymbolFlow!(`crossSection { snapshot { update { byStrike { ${field} } } } }`, 1),
  Me: (field) => `{ me { ${field} } }`,
};

/** Required arguments of a field, and those that decide how much it reads. */
const argument: Record<string, string> = {
  from: `"${session}"`,
  to: `"${next}"`,
  date: `"${session}"`,
  session: `"${session}"`,
  time: `"${session}"`,
  symbols: '["SPY", "QQQ", "AAPL", "MSFT", "NVDA"]',
  first: '20',
  q: '"SPY"',
  id: '"O:SPY261120C00630000"',
  plane: 'live',
  symbol: '"SPY"',
};

/**
 * Parents of a field that are measured together. Rows of a chain lead to hundreds of contracts: with thirty, a price
 * per contract that is three times too low is lost in what is not distinguished from noise.
 */
const manyParents: Record<string, number> = { OptionContract: 200, Greeks: 200 };
const usualParents = 30;

interface Probe {
  name: string;
  one: string;
  many: string | null;
  /** The same without the field. */
  baseOne: string;
  baseMany: string | null;
}

/** The selection below a field: the rows that it reads, if any, since they count by their number. */
function below(type: GraphQLNamedType): string {
  if (isLeafType(type)) return '';
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  const list = fields.find((field) => ['page', 'captures'].includes(String(costOf(field)?.rows)));
  return list && !isLeafType(getNamedType(list.type)) ? ` { ${list.name} { __typename } }` : ' { __typename }';
}

function selected({ name, args, type }: GraphQLField<unknown, unknown>): string {
  const given = args.filter(({ name: arg, type: argType }) => String(argType).endsWith('!') || arg === 'session');
  const list = given.map((arg) => `${arg.name}: ${argument[arg.name] ?? '1'}`).join(', ');
  return `${name}${list === '' ? '' : `(${list})`}${below(getNamedType(type))}`;
}

function probesOf(typeName: string): Probe[] {
  const type = schema.getType(typeName);
  const way = ways[typeName]!;
  const parents = manyParents[typeName] ?? usualParents;
  if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${typeName} has no fields`);
  return Object.values(type.getFields())
    .filter((field) => costOf(field)?.once !== undefined || costOf(field)?.each !== undefined)
    .map((field) => {
      const isRoot = way('x', 1) === way('x', 2);
      return {
        name: `${typeName}.${field.name}`,
        one: way(`__typename ${selected(field)}`, 1),
        many: isRoot ? null : way(`__typename ${selected(field)}`, parents),
        baseOne: way('__typename', 1),
        baseMany: isRoot ? null : way('__typename', parents),
      };
    });
}

async function sampleMarket(folder: string): Promise<void> {
  console.error('bringing a sample market; this takes some minutes');
  const main = join(import.meta.dirname, '../src/main.ts');
  const env = { ...process.env, TAPEGRAPH_DATA: folder, LOG_LEVEL: 'error', DATABASE_URL: '', REDIS_URL: '' };
  const server = spawn(process.execPath, [main, 'serve', '--sample', '--port', '0', '--clock', clock, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(server.stdout, 'data');
  await untilLoaded(JSON.parse(String(line)).url);
  server.kill('SIGTERM');
  await once(server, 'exit');
}

const times = 30;

/** CPU of ten points now: the page's. Measured again for every field, since a machine changes its pace. */
async function measured(graph: GraphCpu, probe: Probe): Promise<string | null> {
  const page = (await graph.run(pageOfBars('2026-11-10', '2026-11-20'), times)).cpuMs;
  const points = (run: Run, base: Run) => ((run.cpuMs - base.cpuMs) / page) * 10;
  const pair = async (query: string, base: string) =>
    [await graph.run(query, times), await graph.run(base, times)] as const;
  const [one, baseOne] = await pair(probe.one, probe.baseOne);
  const line = [probe.name.padEnd(28)];
  const compare = (run: Run, base: Run) => {
    const [took, declared] = [Math.max(0, points(run, base)), run.points - base.points];
    // Under two points nothing is distinguished from noise, nor matters: a request is ten.
    const ratio = (took + 2) / (declared + 2);
    line.push(`${took.toFixed(2).padStart(8)}${declared.toFixed(2).padStart(8)}${ratio.toFixed(2).padStart(7)}`);
    return ratio > 2 || ratio < 0.5;
  };
  let drifts = compare(one, baseOne);
  if (probe.many !== null) drifts = compare(...(await pair(probe.many, probe.baseMany!))) || drifts;
  const failed = one.errors[0]?.message ?? '';
  console.log(`${line.join(' |')}${drifts ? '  drift' : ''}  ${failed}`);
  return drifts ? probe.name : null;
}

const { values } = parseArgs({ options: { data: { type: 'string' }, only: { type: 'string', default: '' } } });
const folder = values.data ?? mkdtempSync(join(tmpdir(), 'tapegraph-weights-'));
if (values.data === undefined) await sampleMarket(folder);
const graph = await openGraphCpu(folder, Date.parse(clock) + 60_000);
try {
  console.log(`points measured, declared, ratio of both + 2: for one parent | for many`);
  const drifting: string[] = [];
  for (const probe of Object.keys(ways)
    .flatMap(probesOf)
    .filter(({ name }) => name.includes(values.only))) {
    const drift = await measured(graph, probe);
    if (drift) drifting.push(drift);
  }
  console.log(drifting.length === 0 ? 'no drift' : `drift: ${drifting.join(', ')}`);
  process.exitCode = drifting.length === 0 ? 0 : 1;
} finally {
  await graph.close();
  if (values.data === undefined) rmSync(folder, { recursive: true, force: true });
}
