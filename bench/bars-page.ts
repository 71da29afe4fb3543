import express from 'express';
import { isTradingDay } from '../src/core/domain/calendar.ts';
import { type Bar, toBarColumns } from '../src/core/domain/market/bar.ts';
import { addDays, epochDay, exchangeInstant } from '../src/core/domain/market-time.ts';
import { writeBars } from '../src/store/market/bar-blocks.ts';
import { saveSymbols } from '../src/store/market/symbols.ts';
import type { Store } from '../src/store/rows/connection.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { type Ground, listen, type Measured } from './ground.ts';
import { type LoadOrder, load } from './load.ts';
import { compare, type Row } from './report.ts';

/** Symbols of the measurement. */
export const symbols = Array.from({ length: 25 }, (_, i) => `S${String.fromCharCode(65 + i)}`);

function minuteBars(date: string, seed: number): Bar[] {
  return Array.from({ length: 390 }, (_, i) => {
    const price = 100 + seed + (epochDay(date) % 30) + Math.round(Math.sin(i / 40) * 500) / 100;
    const cents = (offset: number) => Math.round((price + offset) * 100) / 100;
    return {
      tsMs: exchangeInstant(date, 570 + i),
      open: cents(0),
      high: cents(0.07),
      low: cents(-0.06),
      close: cents(0.02),
      volume: 10_000 + ((i * 37 + seed) % 5000),
      vwap: Math.round((price + 0.0123) * 1e4) / 1e4,
      tradeCount: 100 + (i % 90),
    };
  });
}

/** Trading days of the measurement, oldest first. */
export const days: string[] = [];
for (let date = '2026-09-01'; date < '2026-11-20'; date = addDays(date, 1)) if (isTradingDay(date)) days.push(date);

/** Writes the bars as blocks, and as the ordinary row table the hand-written server reads. */
export async function prepareBars(store: Store): Promise<void> {
  await inTransaction(store, async (tx) => {
    await saveSymbols(
      tx,
      symbols.map((symbol) => ({
        symbol,
        name: symbol,
        class: 'equity',
        registered: true,
        windowDays: 60,
        tenorFrame: 'weekly',
        minTier: 'free',
        requiresAttestation: false,
        sector: null,
        instrumentType: 'common_equity',
      })),
    );
    await tx.query(
      'CREATE TABLE IF NOT EXISTS bench_bars (symbol text, timeframe text, ts_ms bigint, open float8, high float8, low float8, close float8, volume bigint, vwap float8, trade_count bigint, PRIMARY KEY (symbol, timeframe, ts_ms))',
    );
  });
  for (const [seed, symbol] of symbols.entries()) {
    const bars = days.flatMap((date) => minuteBars(date, seed));
    const columns = toBarColumns(bars);
    await inTransaction(store, async (tx) => {
      await writeBars(tx, '1m', [{ symbol, bars: columns }]);
      await tx.query(
        `INSERT INTO bench_bars SELECT $1, '1m', * FROM unnest($2::bigint[], $3::float8[], $4::float8[], $5::float8[], $6::float8[], $7::bigint[], $8::float8[], $9::bigint[])`,
        [
          symbol,
          ...[
            columns.tsMs,
            columns.open,
            columns.high,
            columns.low,
            columns.close,
            columns.volume,
            columns.vwap,
            columns.tradeCount,
          ].map((column) => Array.from(column)),
        ],
      );
    });
  }
  await store.pool.query('ANALYZE bench_bars');
}

/**
 * The route as one would write it by hand: Express and pg over rows, the same bytes out. Its key check is a comparison.
 */
function handWritten(store: Store, key: string) {
  const app = express();
  app.get('/v2/stocks/:symbol/bars', async (request, response) => {
    if (request.headers.authorization !== `Bearer ${key}`) return void response.status(401).end();
    const symbol = String(request.params.symbol);
    const [from, to] = [Number(request.query.from), Number(request.query.to)];
    const { rows } = await store.pool.query({
      name: 'bench-bars',
      text: `SELECT symbol, timeframe, ts_ms, open, high, low, close, volume, vwap, trade_count FROM bench_bars
             WHERE symbol = $1 AND timeframe = $2 AND ts_ms >= $3 AND ts_ms < $4 ORDER BY ts_ms LIMIT 1001`,
      values: [symbol, '1m', from, to],
    });
    const data = rows.slice(0, 1000);
    response.json({
      data,
      meta: {
        caps: { applied: [], tier: 'pro' },
        row_count: data.length,
        complete_through: data.at(-1)?.ts_ms ?? null,
        plane: 'archive',
      },
    });
  });
  return listen(app);
}

/** Windows of exactly 1,000 bars: two and a half sessions and a bit, each from another minute. */
export function windows(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const symbol = symbols[i % symbols.length]!;
    const day = Math.floor(i / symbols.length) % (days.length - 3);
    const minute = Math.floor(i / (symbols.length * (days.length - 3))) % 160;
    return `/v2/stocks/${symbol}/bars?from=${exchangeInstant(days[day]!, 570 + minute)}&to=${exchangeInstant(days[day + 2]!, 570 + minute + 220)}`;
  });
}

async function firstBytes(server: Measured, path: string, key: string): Promise<unknown> {
  const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });
  return answer.json();
}

/** Sends the bytes of an answer, and does nothing else: no server of Node's can send them quicker. */
async function bareServer(server: Measured, path: string, key: string): Promise<Measured> {
  const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
  return listen((_request, response) => void response.writeHead(200, headers).end(bytes));
}

/** CPU time of this process a request, µs: its servers' alone, since the load comes from another. */
async function cpuOf(order: LoadOrder): Promise<number> {
  const before = process.cpuUsage();
  await load(order);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / order.requests!;
}

/**
 * A repeated page against a bare server, by CPU time: by requests a second the process that makes the load would be
 * compared with itself.
 */
async function againstBare(gateway: LoadOrder, bare: LoadOrder): Promise<void> {
  const [warming, rounds] = [4, 9];
  const both: { ours: number; theirs: number }[] = [];
  for (let round = 0; round < warming + rounds; round++) {
    const [ours, theirs] = [await cpuOf(gateway), await cpuOf(bare)];
    if (round >= warming) both.push({ ours, theirs });
  }
  const { ours, theirs } = both.sort((a, b) => a.theirs / a.ours - b.theirs / b.ours)[rounds >> 1]!;
  console.log(
    `page of 1,000 bars, repeated: ${(theirs / ours).toFixed(2)}× a bare node:http that sends the same bytes, by CPU time\n    ours   ${ours.toFixed(0)} µs\n    theirs ${theirs.toFixed(0)} µs`,
  );
}

/** A page of 1,000 one-minute bars: one address over and over, and addresses never asked before. */
export async function barsPage(ground: Ground): Promise<Row[]> {
  const baseline = await handWritten(ground.store, ground.key);
  const path = windows(1)[0]!;
  const bare = await bareServer(ground.gateway, path, ground.session);
  const [ours, theirs] = (await Promise.all([
    firstBytes(ground.gateway, path, ground.session),
    firstBytes(baseline, path, ground.key),
  ])) as { data: unknown[] }[];
  if (JSON.stringify(ours!.data) !== JSON.stringify(theirs!.data))
    throw new Error('the two servers do not answer alike');
  console.log(`  the same ${ours!.data.length} bars from both`);
  const order = (server: Measured, credential: string, urls: string[], requests?: number): LoadOrder => ({
    urls: urls.map((url) => server.url + url),
    headers: { authorization: `Bearer ${credential}` },
    connections: 4,
    durationMs: requests ? 60_000 : 3000,
    ...(requests ? { requests } : {}),
  });
  await againstBare(order(ground.gateway, ground.session, [path], 4000), order(bare, '', [path], 4000));
  const cold = windows(20_000);
  let offset = 0;
  const fresh = () => {
    offset += 700;
    return cold.slice(offset - 700, offset);
  };
  const rows = [
    await compare(
      'page of 1,000 bars, repeated',
      {
        ours: () => load(order(ground.gateway, ground.session, [path])),
        theirs: () => load(order(baseline, ground.key, [path])),
      },
      'Express + pg',
    ),
    await compare(
      'page of 1,000 bars, never seen before',
      {
        ours: () => load(order(ground.gateway, ground.session, fresh(), 700)),
        theirs: () => load(order(baseline, ground.key, fresh(), 700)),
      },
      'Express + pg',
    ),
  ];
  await baseline.close();
  await bare.close();
  return rows;
}
