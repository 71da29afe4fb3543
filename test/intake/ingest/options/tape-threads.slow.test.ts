import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../../src/intake/ingest/files/lists/starter-registry.ts';
import { type IngestOptions, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { leastThreadedBytes } from '../../../../src/intake/ingest/options/option-tape-files.ts';
import { type Random, randomFrom } from '../../../../src/intake/sample/market/random.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const days = ['2026-11-16', '2026-11-17'];
const nowMs = exchangeInstant('2026-11-18', 600);
const folder = temporaryFolder();
const tradeHeader = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
const quoteHeader = 'ticker,ask_price,bid_price,sequence_number,sip_timestamp';
const roots = ['AAPL', 'SPXW', 'SPY', 'ZZTOP', 'ZZXY'];
const conditions = ['209', '209', '219', '', '227', '232', '232', '"209,232"', '201', '247', '202'];

interface Trade {
  contract: string;
  micros: number;
  exchange: number;
  cents: number;
  size: number;
  condition: string;
  correction: number;
}

const oneOf = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;

function contractsOf(root: string): string[] {
  const strikes = [50, 55, 60, 65];
  return strikes.flatMap((strike) =>
    ['C', 'P'].map((right) => `O:${root}261218${right}${`${strike}`.padStart(5, '0')}000`),
  );
}

/** A day's prints: bursts over exchanges and contracts, cancels, prints of one millisecond. */
function drawTrades(random: Random, count: number): Trade[] {
  const trades: Trade[] = [];
  while (trades.length < count) {
    const contracts = contractsOf(oneOf(random, roots));
    const start = Math.floor(random.next() * 390 * 60e6);
    const [cents, size, condition] = [
      100 + Math.floor(random.next() * 300),
      1 + Math.floor(random.next() * 900),
      oneOf(random, conditions),
    ];
    for (let i = 0; i <= random.next() * 4; i++) {
      const exchange = oneOf(random, [302, 316, 323]);
      const micros = start + Math.floor(i * random.next() * 20_000);
      const correction = random.next() < 0.01 ? oneOf(random, [1, 7, 12, 9000]) : 0;
      const trade = { contract: oneOf(random, contracts), micros, exchange, cents, size, condition, correction };
      trades.push(trade);
      if (random.next() < 0.05) trades.push({ ...trade, micros: micros + 1_000_000, condition: '201' });
    }
  }
  return trades;
}

function lineOf({ contract, micros, exchange, cents, size, condition, correction }: Trade, openMs: number): string {
  const stamp = `${openMs + Math.floor(micros / 1000)}${String((micros % 1000) * 1000).padStart(6, '0')}`;
  return `${contract},${condition},${correction},${exchange},${cents / 100},${stamp},${size}`;
}

/** A tape by contract, as vendors write them, or as it traded; prints that come late, every so often a bad line. */
function writeTape(name: string, order: 'contract' | 'time', badEvery: number): string {
  const random = randomFrom(20_261_116);
  const lines: string[] = [];
  for (const day of days) {
    const trades = drawTrades(random, 12_000).sort((a, b) => a.micros - b.micros);
    if (order === 'contract') trades.sort((a, b) => (a.contract < b.contract ? -1 : a.contract > b.contract ? 1 : 0));
    for (let i = 0; i + 7 < trades.length; i += 50) [trades[i], trades[i + 7]] = [trades[i + 7]!, trades[i]!];
    lines.push(...trades.map((trade) => lineOf(trade, exchangeInstant(day, 570))));
  }
  const path = join(folder(), name);
  const withBad = lines.flatMap((line, i) => (i % badEvery === badEvery - 1 ? ['O:NOPE,1,2', line] : [line]));
  const text = [tradeHeader, ...withBad].join('\n');
  expect(text.length).toBeGreaterThan(leastThreadedBytes);
  writeFileSync(path, text);
  return path;
}

function writeQuotes(): string {
  const random = randomFrom(7);
  const lines: string[] = [];
  for (const contract of ['O:SPY270115C00700000', ...roots.slice(0, 4).flatMap(contractsOf)]) {
    for (let i = 0; i < 400; i++) {
      const bid = 100 + Math.floor(random.next() * 300);
      const ms = exchangeInstant(days[i % 2]!, 570) + Math.floor(random.next() * 390 * 60_000);
      lines.push(`${contract},${(bid + 1 + Math.floor(random.next() * 9)) / 100},${bid / 100},${i},${ms}000000`);
    }
  }
  lines.splice(5000, 0, 'O:NOPE,1,2,3');
  const path = join(folder(), 'quotes.csv');
  writeFileSync(path, [quoteHeader, ...lines].join('\n'));
  return path;
}

/** A hash of every table's rows. */
async function hashes({ pool }: TestStore): Promise<Record<string, string>> {
  const tables = await pool.query(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
     AND table_name <> 'symbol_commits' ORDER BY 1`,
  );
  const found: Record<string, string> = {};
  for (const { table_name: name } of tables.rows) {
    const { rows } = await pool.query(
      `SELECT md5(string_agg(r, '' ORDER BY r)) AS hash FROM (SELECT (to_jsonb(t) - 'generation_ms')::text AS r FROM "${name}" t) AS rows`,
    );
    if (name !== '_prisma_migrations') found[name] = rows[0].hash;
  }
  return found;
}

async function ingest(threads: number, path: string, options: Partial<IngestOptions>) {
  const store = await storeForThisTest();
  await ensureStarterRegistry(store, () => nowMs);
  const { files } = await ingestFiles(store, 'option-trades', [path], {
    now: () => nowMs,
    threads,
    solveMost: 2,
    ...options,
  });
  return { report: files[0]!, stored: await hashes(store) };
}

describe('an option tape read by several threads', () => {
  test.each([
    ['by contract', 'contract', false],
    ['as it traded', 'time', false],
    ['with quotes', 'contract', true],
  ] as const)(
    'stores what one thread stores, to the byte: %s',
    async (name, order, quoted) => {
      const path = writeTape(`${name}.csv`, order, 4001);
      const options = { maxErrors: 100, quoteFiles: quoted ? [writeQuotes()] : [] };
      const alone = await ingest(1, path, options);
      expect(alone.report).toMatchObject({ status: 'stored', badLineCount: quoted ? 6 : 5 });
      for (const table of [
        'flow_events',
        'flow_legs',
        'flow_feed',
        'cross_sections',
        'contract_minute_blocks',
        'ranked_prints',
        'option_bar_blocks',
      ])
        expect(alone.stored[table], table).not.toBeNull();
      if (quoted) expect(alone.stored.greeks_minutes).not.toBeNull();
      for (const threads of [2, 4]) expect(await ingest(threads, path, options)).toEqual(alone);
    },
    300_000,
  );

  test('reports the bad lines that one thread reports, in their order, and stores nothing of a file with too many', async () => {
    const path = writeTape('bad.csv', 'contract', 150);
    const alone = await ingest(1, path, { maxErrors: 20 });
    expect(alone.report).toMatchObject({ status: 'refused', reason: 'at least 100 bad lines, at most 20 allowed' });
    expect(alone.report.badLines.map(({ line }) => line).slice(0, 3)).toEqual([151, 302, 453]);
    expect(await ingest(3, path, { maxErrors: 20 })).toEqual(alone);
  });

  test('a stop ends the threads and stores nothing', async () => {
    const path = writeTape('stopped.csv', 'contract', 100_000);
    const store = await storeForThisTest();
    const stop = new AbortController();
    const reading = ingestFiles(
      store,
      'option-trades',
      [path],
      { now: () => nowMs, threads: 2, signal: stop.signal },
      ({ bytesRead }) => {
        if (bytesRead > 0) stop.abort(new Error('stopped'));
      },
    );
    await expect(reading).rejects.toThrow('stopped');
    expect((await hashes(store)).flow_events).toBeNull();
  });
});
