// Two other ways to serve the dashboard: over ordinary row tables with the same data, each in a process of its own.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Store } from '../src/store/rows/connection.ts';
import { symbols } from './bars-page.ts';
import type { Measured } from './ground.ts';

const folder = join(import.meta.dirname, 'peers');

/** Data of a dashboard for one symbol, in the form of our graph's answer. */
export interface Panel {
  symbol: string;
  quote: Record<'spot' | 'changePct' | 'volume' | 'officialClose', number | null>;
  spot: { price: number; ts: number };
  bars: { rows: Record<string, number>[] };
  gex: { latest: { capturedAt: number; spot: number; netGex: number; flipPoint: number | null; strikes: Strike[] } };
  expirations: { dates: string[] };
}

type Strike = Record<'strike' | 'gex' | 'callOi' | 'putOi', number>;

/** Another server of the same dashboard. */
export interface Peer extends Measured {
  name: string;
  /** The dashboard's document for it; its variables are `from` and `to`, ms. */
  document: string;
  /** A symbol's part of its answer in the form of ours. */
  panel(answered: never): unknown;
}

/** Installs the peers' packages and generates Prisma's client of their tables. */
function install(): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const isThere = (name: string) => existsSync(join(folder, 'node_modules', name));
  if (!Object.keys(dependencies).every(isThere))
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
  // The generator wants a schema engine, which it does not use: any program will do, and nothing is downloaded.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const generator = join(import.meta.dirname, '../node_modules/prisma-cli/build/index.js');
  execFileSync(process.execPath, [generator, 'generate', '--schema', 'schema.prisma'], { cwd: folder, env });
}

const columns = {
  quotes: ['symbol', 'spot', 'change_pct', 'volume', 'official_close', 'price', 'ts'],
  bars: ['symbol', 'ts_ms', 'open', 'high', 'low', 'close', 'volume', 'vwap'],
  captures: ['id', 'symbol', 'captured_at', 'spot', 'net_gex', 'flip_point'],
  strikes: ['capture_id', 'strike', 'gex', 'call_oi', 'put_oi'],
  expirations: ['symbol', 'date'],
} as const;

/** Fills the row tables from what our graph answers: all five-minute bars and all strikes. */
export async function prepareRows(store: Store, panels: readonly Panel[]): Promise<void> {
  await store.pool.query(readFileSync(join(folder, 'schema.sql'), 'utf8'));
  const fill = async (table: keyof typeof columns, rows: readonly object[]) => {
    const names = columns[table].join(', ');
    const sql = `INSERT INTO peer.${table} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::peer.${table}, $1)`;
    await store.pool.query(sql, [JSON.stringify(rows)]);
  };
  await store.pool.query('INSERT INTO peer.symbols SELECT unnest($1::text[])', [panels.map(({ symbol }) => symbol)]);
  for (const [id, { symbol, quote, spot, bars, gex, expirations }] of panels.entries()) {
    const { strikes, ...latest } = gex.latest;
    const snakes = { change_pct: quote.changePct, official_close: quote.officialClose };
    await fill('quotes', [{ symbol, ...quote, ...snakes, ...spot }]);
    await fill(
      'bars',
      bars.rows.map(({ tsMs, ...row }) => ({ symbol, ts_ms: tsMs, ...row })),
    );
    const { capturedAt: captured_at, netGex: net_gex, flipPoint: flip_point } = latest;
    await fill('captures', [{ id, symbol, captured_at, spot: latest.spot, net_gex, flip_point }]);
    await fill(
      'strikes',
      strikes.map(({ strike, gex: gamma, callOi: call_oi, putOi: put_oi }) => ({
        capture_id: id,
        strike,
        gex: gamma,
        call_oi,
        put_oi,
      })),
    );
    await fill(
      'expirations',
      expirations.dates.map((date) => ({ symbol, date })),
    );
  }
  await store.pool.query('ANALYZE');
}

const documentOf = (variables: string, panel: (symbol: string) => string, fragment: string) =>
  `query Dashboard(${variables}) {\n${symbols.map((symbol) => `  ${symbol}: ${panel(symbol)} { ...Panel }`).join('\n')}\n}\n${fragment}`;

const barFields = 'tsMs open high low close volume vwap';
const latestFields = 'capturedAt spot netGex flipPoint';
const strikeFields = 'strike gex callOi putOi';
const quoteFields = 'spot changePct volume officialClose price ts';

interface Answered {
  symbol: string;
  quote: Panel['quote'] & Panel['spot'];
  bars: object[];
  latest: object & { strikes: object[] };
  expirations: { date: string }[];
}

function asPanel({ symbol, quote, bars, latest, expirations }: Answered): unknown {
  const { price, ts, ...rest } = quote;
  return {
    symbol,
    quote: rest,
    spot: { price, ts },
    bars: { rows: bars },
    gex: { latest },
    expirations: { dates: expirations.map(({ date }) => date) },
  };
}

const kinds = [
  {
    name: 'Mercurius with JIT over Pothos’ Prisma plugin',
    file: 'prisma-server.mjs',
    document: documentOf(
      '$from: Float!, $to: Float!',
      (symbol) => `symbol(symbol: "${symbol}")`,
      `fragment Panel on Symbol {
  symbol
  quote { ${quoteFields} }
  bars(from: $from, to: $to) { ${barFields} }
  captures(last: 1) { ${latestFields} strikes(top: 20) { ${strikeFields} } }
  expirations { date }
}`,
    ),
    panel: ({ captures, ...rest }: Omit<Answered, 'latest'> & { captures: Answered['latest'][] }) =>
      asPanel({ ...rest, latest: captures[0]! }),
  },
  {
    name: 'PostGraphile 5',
    file: 'postgraphile-server.mjs',
    document: documentOf(
      '$from: Float!, $to: Float!',
      (symbol) => `symbolBySymbol(symbol: "${symbol}")`,
      `fragment Panel on Symbol {
  symbol
  quote: quoteBySymbol { ${quoteFields} }
  bars: barsBetweenList(fromMs: $from, toMs: $to) { ${barFields} }
  latest: latestCapture { ${latestFields} strikes: topStrikesList(count: 20) { ${strikeFields} } }
  expirations: expirationsBySymbolList { date }
}`,
    ),
    panel: asPanel,
  },
];

/** The store's database, as PostgreSQL's clients read it from the environment. */
function connectionOf({ pool: { options } }: Store): Record<string, string> {
  const parsed = options.connectionString === undefined ? null : new URL(options.connectionString);
  const { hostname, username, pathname } = parsed ?? { hostname: '', username: '', pathname: '' };
  return {
    PGHOST: parsed ? hostname : options.host!,
    PGPORT: String(parsed ? parsed.port || 5432 : options.port),
    PGUSER: parsed ? username : options.user!,
    PGPASSWORD: String(parsed ? parsed.password : (options.password ?? '')),
    PGDATABASE: parsed ? pathname.slice(1) : options.database!,
  };
}

/** Starts the peers over the rows in the store's database. */
export async function startPeers(store: Store): Promise<Peer[]> {
  install();
  const peers: Peer[] = [];
  for (const { file, ...kind } of kinds) {
    const env = { ...process.env, ...connectionOf(store), NODE_ENV: 'production', GRAPHILE_ENV: 'production' };
    const child = fork(join(folder, file), { cwd: folder, env });
    const [url] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`))),
    ])) as [string];
    const close = async () => {
      child.kill();
      await once(child, 'exit');
    };
    peers.push({ ...(kind as Omit<Peer, 'url' | 'close'>), url, close });
  }
  return peers;
}

/** Throws unless a peer's answer equals ours. */
export function requireSame(peer: Peer, ours: Record<string, Panel>, theirs: Record<string, never>): void {
  for (const symbol of symbols) {
    const panel = peer.panel(theirs[symbol]!);
    if (!isDeepStrictEqual(sorted(panel as Panel), sorted(ours[symbol]!)))
      throw new Error(`${peer.name} answers otherwise for ${symbol}`);
  }
}

/** Strikes in one order: ours come by strike, theirs by the size of their gamma. */
function sorted(panel: Panel): Panel {
  const strikes = panel.gex.latest.strikes.toSorted((a, b) => a.strike - b.strike);
  return JSON.parse(JSON.stringify({ ...panel, gex: { latest: { ...panel.gex.latest, strikes } } }));
}
