import express from 'express';
import { netCurve } from '../src/core/analytics/gex/flip-point.ts';
import { type GexCapture, type GexRow, gexColumns, gexRowAt, noContracts } from '../src/core/domain/gex/gex.ts';
import { addDays, exchangeInstant } from '../src/core/domain/market-time.ts';
import { saveGexCapture } from '../src/store/gex/captures.ts';
import type { Store } from '../src/store/rows/connection.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { type Ground, listen } from './ground.ts';
import { type LoadOrder, load } from './load.ts';
import { compare, type Row } from './report.ts';

/** The session measured, past at the gateway's clock, and the symbols that have captures. */
export const session = '2026-11-19';
const captures = 78;
const strikes = 450;
const expiries = 12;

function row(strike: number, expiry: string, seed: number): GexRow {
  const wave = Math.sin(strike / 7000 + seed) * 1e6;
  return {
    ...noContracts,
    strike,
    expiry,
    gex: Math.round(wave * 100) / 100,
    deltaAdj: Math.round(wave * 40) / 100,
    callOi: 100 + (strike % 977),
    putOi: 90 + (strike % 733),
    gex0dte: seed % 2 ? Math.round(wave * 10) / 100 : null,
  };
}

/** A capture of an ETF's size: 450 strikes, 12 expiries at a third of them, one at the others. */
export function capture(
  underlying: string,
  capturedAt: number,
  sessionDate: string,
  seed: number,
  size = strikes,
): GexCapture {
  const at = Array.from({ length: size }, (_, i) => 400_000 + i * 1000);
  const byExpiry = at.flatMap((strike, i) =>
    Array.from({ length: i % 3 ? 1 : expiries }, (_, e) => row(strike, addDays(sessionDate, e * 7), seed + e)),
  );
  const curve = netCurve(gexColumns(byExpiry));
  const net = at.map((_, i) => gexRowAt(curve, i));
  return {
    underlying,
    delayMs: 0,
    capturedAt,
    sessionDate,
    spot: 600.25,
    priorCloseSpot: 599.5,
    impliedSpot: 600.25,
    spotStale: false,
    inconsistentExpiries: 0,
    netGex: net.reduce((sum, { gex }) => sum + gex, 0),
    flipPoint: 598.25,
    zeroGamma: 597.5,
    callWall: 610_000,
    putWall: 580_000,
    callGexPeak: 605_000,
    putGexPeak: 600_000,
    flipStatus: 'crosses',
    netVanna: 1,
    netCharm: 2,
    gammaSource: 'vendor',
    oiCoverage: 1,
    contractCount: size * 2,
    gammaAbsent: 0,
    gammaDecimals: 4,
    inputs: null,
    methodologyVersion: '3',
    profile: null,
    strikes: net,
    byExpiry,
    expiries: [],
  };
}

/** Writes a session of captures as blocks, and as the ordinary rows of the hand-written server. */
export async function prepareGex(store: Store): Promise<void> {
  await store.pool.query(
    'CREATE TABLE IF NOT EXISTS bench_gex_captures (underlying text, session_date text, captured_at bigint, spot float8, prior_close_spot float8, net_gex float8, flip_point float8, PRIMARY KEY (underlying, captured_at))',
  );
  await store.pool.query(
    'CREATE TABLE IF NOT EXISTS bench_gex_rows (underlying text, captured_at bigint, strike bigint, gex float8, call_oi int, put_oi int, delta_adj float8, gex_0dte float8, PRIMARY KEY (underlying, captured_at, strike))',
  );
  for (let i = 0; i < captures; i++) {
    const one = capture('SA', exchangeInstant(session, 570 + 5 * i), session, i);
    await inTransaction(store, async (tx) => {
      await saveGexCapture(tx, one);
      await tx.query('INSERT INTO bench_gex_captures VALUES ($1, $2, $3, $4, $5, $6, $7)', [
        'SA',
        session,
        one.capturedAt,
        one.spot,
        one.priorCloseSpot,
        one.netGex,
        one.flipPoint,
      ]);
      await tx.query(
        'INSERT INTO bench_gex_rows SELECT $1, $2, * FROM unnest($3::bigint[], $4::float8[], $5::int[], $6::int[], $7::float8[], $8::float8[])',
        [
          'SA',
          one.capturedAt,
          one.strikes.map((r) => r.strike),
          one.strikes.map((r) => r.gex),
          one.strikes.map((r) => r.callOi),
          one.strikes.map((r) => r.putOi),
          one.strikes.map((r) => r.deltaAdj),
          one.strikes.map((r) => r.gex0dte),
        ],
      );
    });
  }
  await store.pool.query('ANALYZE bench_gex_rows');
}

interface WireRow {
  captured_at: number;
  strike: number;
  gex: number;
}

function handWritten(store: Store, key: string) {
  const app = express();
  app.get('/v2/gex/:symbol/history', async (request, response) => {
    if (request.headers.authorization !== `Bearer ${key}`) return void response.status(401).end();
    const { symbol } = request.params;
    const top = request.query.top === undefined ? null : Number(request.query.top);
    const heads = await store.pool.query({
      name: 'bench-gex-captures',
      text: 'SELECT captured_at, spot, prior_close_spot, net_gex, flip_point FROM bench_gex_captures WHERE underlying = $1 AND session_date = $2 ORDER BY captured_at',
      values: [symbol, request.query.date],
    });
    const { rows } = await store.pool.query<WireRow>({
      name: 'bench-gex-rows',
      text: 'SELECT captured_at, strike, gex, call_oi, put_oi, delta_adj, gex_0dte FROM bench_gex_rows WHERE underlying = $1 AND captured_at = ANY($2) ORDER BY captured_at, strike',
      values: [symbol, heads.rows.map((head) => head.captured_at)],
    });
    const byCapture = new Map<number, Omit<WireRow, 'captured_at'>[]>(heads.rows.map((head) => [head.captured_at, []]));
    for (const { captured_at, ...kept } of rows) byCapture.get(captured_at)!.push(kept);
    const list = heads.rows.map((head) => {
      const all = byCapture.get(head.captured_at)!;
      const kept =
        top === null
          ? all
          : all
              .toSorted((a, b) => Math.abs(b.gex) - Math.abs(a.gex))
              .slice(0, top)
              .sort((a, b) => a.strike - b.strike);
      return { ...head, strikes: kept };
    });
    response.json({
      data: { symbol, session_date: request.query.date, captures: list },
      meta: {
        caps: { applied: [], tier: 'pro' },
        capture_count: list.length,
        session_open: '09:30',
        session_close: '16:00',
        plane: 'archive',
      },
    });
  });
  return listen(app);
}

/** GEX history of a past session, trimmed and whole; `from` varies so that no answer repeats. */
export async function gexHistory(ground: Ground): Promise<Row[]> {
  const baseline = await handWritten(ground.store, ground.key);
  const rows: Row[] = [];
  for (const [name, query] of [
    ['top=20', '&top=20'],
    ['untrimmed', ''],
  ] as const) {
    const order = (url: string, credential: string, repeated: boolean): LoadOrder => ({
      // An unknown parameter is ignored, but makes an address that was not asked before.
      urls: Array.from(
        { length: repeated ? 1 : 5000 },
        (_, i) => `${url}/v2/gex/SA/history?date=${session}${query}${repeated ? '' : `&n=${Math.random()}${i}`}`,
      ),
      headers: { authorization: `Bearer ${credential}` },
      connections: 2,
      durationMs: 3000,
    });
    for (const repeated of [true, false]) {
      rows.push(
        await compare(
          `GEX history of a session, ${name}, ${repeated ? 'repeated' : 'address never seen before'}`,
          {
            ours: () => load(order(ground.gateway.url, ground.session, repeated)),
            theirs: () => load(order(baseline.url, ground.key, repeated)),
          },
          'Express + pg',
        ),
      );
    }
  }
  await baseline.close();
  return rows;
}
