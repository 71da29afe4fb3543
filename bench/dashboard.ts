import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { type ChainCapture, type ChainRow, unknownNumbers } from '../src/core/domain/chain/chain.ts';
import { toBarColumns } from '../src/core/domain/market/bar.ts';
import { addDays, exchangeInstant } from '../src/core/domain/market-time.ts';
import { requestContext } from '../src/resolvers/context.ts';
import { schema } from '../src/schema/index.ts';
import { createApp } from '../src/server.ts';
import { saveChainCapture } from '../src/store/chain/chain-captures.ts';
import { saveGexCapture } from '../src/store/gex/captures.ts';
import { writeBars } from '../src/store/market/bar-blocks.ts';
import { openStore, type Store } from '../src/store/rows/connection.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { days, symbols } from './bars-page.ts';
import { capture, session } from './gex-history.ts';
import { type Ground, listen, type Measured } from './ground.ts';
import { type LoadResult, load } from './load.ts';
import { serveMercurius } from './mercurius-server.mjs';
import { type Panel, type Peer, prepareRows, requireSame, startPeers } from './peers.ts';
import { compare, type Row } from './report.ts';

const panel = (topStrikes: number) => `fragment Panel on Symbol {
  symbol
  quote { spot changePct volume officialClose }
  spot { price ts }
  bars(from: $from, to: $to, timeframe: "5m") { rows { tsMs open high low close volume vwap } }
  gex { latest(topStrikes: ${topStrikes}) { capturedAt spot netGex flipPoint strikes { strike gex callOi putOi } } }
  expirations { dates }
}`;

/** The query of a dashboard of 25 symbols. */
export const dashboardQuery = `query Dashboard($from: PointInTime!, $to: PointInTime!) {
${symbols.map((symbol) => `  ${symbol}: symbol(symbol: "${symbol}") { ...Panel }`).join('\n')}
}
${panel(20)}`;

/** All that is stored of a symbol: what the peers' tables are filled from. */
const everythingQuery = `query Everything($symbol: Ticker!, $from: PointInTime!, $to: PointInTime!) {
  panel: symbol(symbol: $symbol) { ...Panel }
}
${panel(200)}`;

/** A chain of an underlying: 12 expiries of 20 calls. */
export function chain(underlying: string): ChainCapture {
  const expiries = Array.from({ length: 12 }, (_, i) => addDays('2026-11-20', i * 7));
  const rows = expiries.flatMap((expiry) =>
    Array.from(
      { length: 20 },
      (_, i) =>
        ({
          ...unknownNumbers,
          root: underlying,
          expiry,
          right: 'call',
          strike: 90_000 + i * 1000,
          openInterest: 1,
          volume: 1,
          bid: 1,
          ask: 1.1,
          last: 1,
          fmv: 1,
          iv: 0.2,
          delta: 0.5,
          gamma: 0.01,
          theta: -0.1,
          vega: 0.1,
          sharesPerContract: 100,
        }) satisfies ChainRow,
    ),
  );
  return {
    underlying,
    capturedAt: exchangeInstant(session, 960),
    sessionDate: session,
    spot: 100,
    priorCloseSpot: 99,
    partial: false,
    rows,
  };
}

/** Adds to the bars what else a dashboard shows: daily and 5m bars, a chain and a GEX capture for every symbol. */
export async function prepareDashboard(store: Store): Promise<void> {
  for (const [seed, symbol] of symbols.entries()) {
    const daily = days.map((date) => ({
      tsMs: exchangeInstant(date),
      open: 100,
      high: 102,
      low: 99,
      close: 100 + (seed % 5),
      volume: 1e6,
      vwap: 100.5,
      tradeCount: 1000,
    }));
    const five = days.flatMap((date) =>
      Array.from({ length: 78 }, (_, i) => ({
        tsMs: exchangeInstant(date, 570 + 5 * i),
        open: 100,
        high: 101,
        low: 99.5,
        close: 100.25,
        volume: 5000 + i,
        vwap: 100.1,
        tradeCount: 40,
      })),
    );
    await inTransaction(store, async (tx) => {
      await writeBars(tx, '1d', [{ symbol, bars: toBarColumns(daily) }]);
      await writeBars(tx, '5m', [{ symbol, bars: toBarColumns(five) }]);
      await saveChainCapture(tx, chain(symbol));
      await saveGexCapture(tx, capture(symbol, exchangeInstant(session, 960), session, seed, 200));
    });
  }
}

/** The same graph behind Mercurius with its JIT, over the same store. */
async function mercuriusServer(ground: Ground): Promise<Measured> {
  const authentication = await ground.access.authenticate(ground.session);
  if (authentication.state !== 'ok') throw new Error('the session is not valid');
  const services = {
    store: ground.store,
    access: ground.access,
    sources: ground.config.sources,
    now: ground.now,
    random: randomBytes,
    live: ground.live,
    journalMaxRows: ground.config.journalMaxRows,
    maxSavedScreens: ground.config.maxSavedScreens,
    provenance: ground.config.provenance,
  };
  return serveMercurius({ schema, context: () => requestContext(services, authentication.caller, () => {}) });
}

/** The gateway over the same data without change notifications: every request reads its data again. */
async function holdingNothing({ dataDir, config, access, now, live }: Ground): Promise<Measured> {
  const store = await openStore({ databaseUrl: process.env.DATABASE_URL ?? null, dataDir });
  const served = await listen(createApp({ config, store, access, now, log: pino({ level: 'silent' }), live }));
  const close = async () => {
    await served.close();
    await store.close();
  };
  return { ...served, close };
}

const from = exchangeInstant(session, 570);
const to = exchangeInstant(session, 960);

interface Question {
  query: string;
  variables: object;
}

/** The answer's data; throws when there are errors. */
async function ask<T>(url: string, credential: string, question: Question): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify(question),
  });
  const { data, errors } = (await answer.json()) as { data: T; errors?: unknown };
  if (errors) throw new Error(`${url} answered ${JSON.stringify(errors)}`);
  return data;
}

/** Every body asks the same, or each its own: a millisecond more of the range, which changes nothing in the answer. */
function asGraphql(url: string, credential: string, eachItsOwn = false): () => Promise<LoadResult> {
  let asked = 0;
  return () =>
    load({
      urls: [`${url}/graphql`],
      method: 'POST',
      bodies: Array.from({ length: eachItsOwn ? 4000 : 1 }, () =>
        JSON.stringify({
          query: dashboardQuery,
          variables: { from: String(from - (eachItsOwn ? asked++ : 0)), to: String(to) },
        }),
      ),
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      connections: 4,
      durationMs: 4000,
    });
}

/** No two questions alike, to a peer. */
function asPeer({ url, document }: Peer): () => Promise<LoadResult> {
  let asked = 0;
  return () =>
    load({
      urls: [`${url}/graphql`],
      method: 'POST',
      bodies: Array.from({ length: 4000 }, () =>
        JSON.stringify({ query: document, variables: { from: from - asked++, to } }),
      ),
      headers: { 'content-type': 'application/json' },
      connections: 4,
      durationMs: 4000,
    });
}

/** The dashboard against the peers over row tables, once their answers have been compared. */
async function againstPeers(ground: Ground): Promise<Row[]> {
  const url = `${ground.gateway.url}/graphql`;
  const panels: Panel[] = [];
  for (const symbol of symbols) {
    const variables = { symbol, from: String(exchangeInstant(days[0]!)), to: String(to) };
    const { panel } = await ask<{ panel: Panel }>(url, ground.session, { query: everythingQuery, variables });
    panels.push(panel);
  }
  await prepareRows(ground.store, panels);
  const ours = await ask<Record<string, Panel>>(url, ground.session, {
    query: dashboardQuery,
    variables: { from: String(from), to: String(to) },
  });
  const rows: Row[] = [];
  const peers = await startPeers(ground.store);
  try {
    for (const peer of peers) {
      const question = { query: peer.document, variables: { from, to } };
      requireSame(peer, ours, await ask<Record<string, never>>(`${peer.url}/graphql`, '', question));
      const race = { ours: asGraphql(ground.gateway.url, ground.session, true), theirs: asPeer(peer) };
      rows.push(await compare('dashboard of 25 symbols, no two questions alike', race, peer.name));
    }
  } finally {
    for (const peer of peers) await peer.close();
  }
  return rows;
}

/** The same data as REST calls: one for the quotes, four for each symbol. */
function restCalls(url: string): string[] {
  return [
    `${url}/v2/quotes?symbols=${symbols.join(',')}`,
    ...symbols.flatMap((symbol) => [
      `${url}/v2/symbols/${symbol}/spot`,
      `${url}/v2/stocks/${symbol}/bars?from=${from}&to=${to}&tf=5m`,
      `${url}/v2/gex/${symbol}/history?date=${session}&from=16:00&to=16:01&top=20`,
      `${url}/v2/chain/${symbol}/expirations`,
    ]),
  ];
}

/** A dashboard of 25 symbols: against Mercurius over the same store, and against the same data as REST calls. */
export async function dashboard(ground: Ground): Promise<Row[]> {
  const other = await mercuriusServer(ground);
  const calls = restCalls(ground.gateway.url);
  const rest = async (): Promise<LoadResult> => {
    const result = await load({
      urls: calls,
      headers: { authorization: `Bearer ${ground.session}` },
      connections: 4,
      durationMs: 4000,
    });
    return {
      ...result,
      requestsPerSecond: result.requestsPerSecond / calls.length,
      p50Ms: result.p50Ms * calls.length,
      p99Ms: result.p99Ms * calls.length,
      bytes: Number.NaN,
    };
  };
  const ours = ground.gateway.url;
  const unheld = await holdingNothing(ground);
  const rows = [
    await compare(
      'dashboard of 25 symbols, asked over and over',
      { ours: asGraphql(ours, ground.session), theirs: asGraphql(other.url, ground.session) },
      'Mercurius with JIT',
    ),
    await compare(
      'dashboard of 25 symbols, no two questions alike',
      { ours: asGraphql(ours, ground.session, true), theirs: asGraphql(other.url, ground.session, true) },
      'Mercurius with JIT',
    ),
    await compare(
      'dashboard of 25 symbols, no two questions alike',
      { ours: asGraphql(ours, ground.session, true), theirs: rest },
      `the same data as ${calls.length} REST calls`,
    ),
  ];
  rows.push(
    await compare(
      'dashboard of 25 symbols, no two questions alike',
      { ours: asGraphql(ours, ground.session, true), theirs: asGraphql(unheld.url, ground.session, true) },
      'the same gateway, nothing held',
    ),
  );
  await unheld.close();
  await other.close();
  return [...rows, ...(await againstPeers(ground))];
}
