// Captures of a delayed source are computed as of the time of their quotes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ChainCapture } from '../../../../src/core/domain/chain/chain.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';
import { chainCaptureAt } from '../../../../src/store/chain/chain-captures.ts';
import { latestGexCaptures } from '../../../../src/store/gex/captures.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { chainServer, tagged } from '../../../support/chain-server.ts';
import { hasSharedData, sharedData } from '../../../support/shared-data.ts';
import { type TestStore, testStore } from '../../../support/store.ts';
import { delayedPage } from '../../../support/tapes/delayed-page.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const yearMinutes = 365 * 24 * 60;
const [today, december] = ['2026-11-16', '2026-12-18'];
const strikes = Array.from({ length: 21 }, (_, i) => 5980 + 2 * i);
const folder = temporaryFolder();
const now = () => exchangeInstant('2026-11-17', 60);

/** The page of a time whose quotes are 15 minutes older, each worth 20 % volatility then. */
function pageAt(minute: number): string {
  const [hour, past] = [Math.floor(minute / 60), String(minute % 60).padStart(2, '0')];
  return delayedPage({
    date: `November 16, 2026 at ${hour - 12}:${past} PM EST`,
    root: 'SPXW',
    forward: 6000,
    // To 16:00 of the day.
    expiries: {
      [today]: (960 - (minute - 15)) / yearMinutes,
      [december]: (32 * 1440 + 960 - (minute - 15)) / yearMinutes,
    },
    strikes,
    volatility: 0.2,
  });
}

let store: TestStore;
let env: Record<string, string>;
beforeEach(async () => {
  store = await testStore();
  env = { DATABASE_URL: store.databaseUrl };
  onTestFinished(() => store.close());
});

/** Runs a command that succeeds. No interest: then a price is worth one volatility at one time. */
async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await tapegraph([...args, '--rate', '0'], env, { now });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function ingest(text: string, ...options: string[]): Promise<void> {
  const path = join(folder(), 'page.csv');
  writeFileSync(path, text);
  await run('ingest', 'chain', path, ...options);
}

const stored = async (symbol = 'SPX') => (await inTransaction(store, (tx) => chainCaptureAt(tx, symbol, now())))!;
const gexOf = async (symbol = 'SPX') =>
  (await latestGexCaptures(store, [symbol], now(), { byExpiry: false })).get(symbol)!;

/** The solved volatilities of the day's contracts near the money. */
function ofToday({ rows }: ChainCapture, expiry = today): number[] {
  const near = rows.filter((row) => row.expiry === expiry && Math.abs(row.strike / 6_000_000 - 1) < 5e-4);
  expect(near.length).toBeGreaterThan(3);
  return near.map(({ solved }) => solved!.iv!);
}

describe('the exchange’s page', () => {
  test('of 15:50 has quotes of 15:35: solved then, they have the volatilities that the page says', async () => {
    await ingest(pageAt(950));
    const chain = await stored();
    expect(chain).toMatchObject({ capturedAt: exchangeInstant(today, 950), delayMs: 15 * minuteMs });
    for (const iv of ofToday(chain)) expect(Math.abs(iv / 0.2 - 1)).toBeLessThan(1e-3);
  });

  test('taken as of its own time would be 58 % too high: √(25 minutes / 10 minutes)', async () => {
    await ingest(pageAt(950), '--delay', '0');
    const chain = await stored();
    expect(chain.delayMs).toBe(0);
    for (const iv of ofToday(chain)) expect(Math.abs(iv / 0.2 - Math.sqrt(2.5))).toBeLessThan(2e-3);
  });

  test.each([960, 965, 974])('of %i minutes of the day, after the close, has what expires that day', async (minute) => {
    await ingest(pageAt(minute));
    for (const iv of ofToday(await stored())) expect(Math.abs(iv / 0.2 - 1)).toBeLessThan(1e-3);
    const { strikes: net, sessionDate } = await gexOf();
    expect(sessionDate).toBe(today);
    // Black's gamma at the money, on the net interest: 40 contracts of 100 shares.
    const width = 0.2 * Math.sqrt((975 - minute) / yearMinutes);
    const gamma = Math.exp((-width * width) / 8) / Math.sqrt(2 * Math.PI) / (6000 * width);
    const gex0dte = net.gex0dte[net.strike.indexOf(6_000_000)]!;
    expect(Math.abs(gex0dte / (gamma * 40 * 100 * 6000) - 1)).toBeLessThan(2e-3);
    await ingest(pageAt(minute), '--delay', '0m');
    expect((await gexOf()).strikes.gex0dte.every(Number.isNaN)).toBe(true);
  });

  test('of 16:15 has none: its quotes are of the close', async () => {
    await ingest(pageAt(975));
    expect((await gexOf()).strikes.gex0dte.every(Number.isNaN)).toBe(true);
  });

  test('is read again with another delay, and is unchanged with the same', async () => {
    await ingest(pageAt(950));
    const path = join(folder(), 'page.csv');
    expect(await run('ingest', 'chain', path)).toContain('1 unchanged');
    expect(await run('ingest', 'chain', path, '--delay', '20m')).toContain('1 stored');
    expect((await stored()).delayMs).toBe(20 * minuteMs);
    expect(await run('ingest', 'chain', path)).toContain('1 stored');
    expect((await stored()).delayMs).toBe(15 * minuteMs);
  });
});

describe.runIf(hasSharedData)('a real page', () => {
  const page = () => gunzipSync(readFileSync(sharedData('chains_cboe/spy_20250903T0924.csv.gz'))).toString();

  test('printed at 16:05 has what expires that day, and none if its quotes are taken as of 16:05', async () => {
    const late = page().replace('at 9:24 AM EDT', 'at 4:05 PM EDT');
    await ingest(late);
    const gex = await gexOf('SPY');
    expect(gex.strikes.gex0dte.some((value) => Math.abs(value) > 0)).toBe(true);
    await ingest(late, '--delay', '0');
    expect((await gexOf('SPY')).strikes.gex0dte.every(Number.isNaN)).toBe(true);
  });

  // The page's own volatilities are of the evening before. Against one solve, the ratio of the other follows from time
  // alone: σ ∝ 1/√T.
  test('of 09:24 is solved at 09:09', async () => {
    const near = ({ rows, spot }: ChainCapture) =>
      rows.filter(
        (row) =>
          row.expiry === '2025-09-03' &&
          row.solved?.origin === 'outOfTheMoney' &&
          Math.abs(row.strike / 1000 / spot! - 1) < 0.005,
      );
    await ingest(page());
    const delayed = near(await stored('SPY'));
    await ingest(page(), '--delay', '0');
    const own = near(await stored('SPY'));
    expect(delayed.length).toBeGreaterThan(10);
    expect(own).toHaveLength(delayed.length);
    const expected = Math.sqrt((16 * 60 - (9 * 60 + 24)) / (16 * 60 - (9 * 60 + 9)));
    for (const [i, row] of delayed.entries())
      expect(Math.abs(row.solved!.iv! / own[i]!.solved!.iv! / expected - 1)).toBeLessThan(2e-3);
  });
});

/** The chain of 15:50 as the source of `capture` writes it. */
function answerAt(minute: number): string {
  const lines = pageAt(minute).trim().split('\n').slice(3);
  const options = lines.flatMap((line) => {
    const cells = line.split(',');
    return [cells.slice(1, 11), cells.slice(12)].map(([option, , , bid, ask, , iv, delta, gamma, oi]) => ({
      option,
      bid: Number(bid),
      ask: Number(ask),
      iv: Number(iv),
      delta: Number(delta),
      gamma: Number(gamma),
      open_interest: Number(oi),
      volume: 0,
      theta: 0,
      vega: 0,
      theo: 0,
      last_trade_price: 0,
      last_trade_time: null,
    }));
  });
  const timestamp = new Date(exchangeInstant(today, minute)).toISOString().slice(0, 19).replace('T', ' ');
  return JSON.stringify({ timestamp, data: { options, current_price: 6000, prev_day_close: 6000 } });
}

describe('every command that stores chains', () => {
  const capture = async (...options: string[]) => {
    const server = await chainServer();
    server.serve('SPX', tagged(answerAt(950), '"1"'));
    const url = server.url('').concat('{symbol}');
    await run('capture', 'chains', '--once', '--symbols', 'SPX', '--url', url, ...options);
  };
  const json = async (...options: string[]) => {
    const path = join(folder(), 'chain.json');
    writeFileSync(path, answerAt(950));
    await run('ingest', 'chain', path, ...options);
  };
  const recompute = async (...options: string[]) => {
    await ingest(pageAt(950));
    await store.pool.query('UPDATE chain_captures SET delay_ms = NULL; UPDATE gex_captures SET delay_ms = NULL');
    await run('recompute', 'chain', ...options);
  };
  const commands = {
    'ingest CSV': (...options: string[]) => ingest(pageAt(950), ...options),
    'ingest JSON': json,
    capture,
  };

  test.each(Object.entries(commands))('%s: the delay of the format, or the one that is given', async (_, command) => {
    for (const [options, delayMs] of [
      [[], 15 * minuteMs],
      [['--delay', '0'], 0],
      [['--delay', '20m'], 20 * minuteMs],
    ] as const) {
      await command(...options);
      expect((await stored()).delayMs).toBe(delayMs);
      expect((await gexOf()).delayMs).toBe(delayMs);
      const expected = 0.2 * Math.sqrt(25 / (10 + delayMs / minuteMs));
      for (const iv of ofToday(await stored())) expect(Math.abs(iv / expected - 1)).toBeLessThan(2e-3);
      await store.pool.query('TRUNCATE chain_captures, gex_captures, ingested_files');
    }
  });

  test('recompute: what was stored without a delay keeps none, until one is given', async () => {
    await recompute();
    expect(await stored()).toMatchObject({ delayMs: null });
    await recompute('--delay', '20m');
    const expected = 0.2 * Math.sqrt(25 / 30);
    for (const iv of ofToday(await stored())) expect(Math.abs(iv / expected - 1)).toBeLessThan(2e-3);
    expect((await gexOf()).delayMs).toBe(20 * minuteMs);
    expect(await run('recompute', 'chain', '--delay', '20m')).toContain('0 sessions recomputed, 0 unchanged');
  });

  test.each([
    ['ingest', 'chain', 'a.csv'],
    ['recompute', 'chain'],
    ['capture', 'chains', '--symbols', 'A', '--url', 'http://x/{symbol}'],
  ])('%s %s refuses a delay that none has', async (...args) => {
    for (const delay of ['2d', '-5m', '15', 'soon']) {
      const { code, stderr } = await tapegraph([...args, '--delay', delay], env, { now });
      expect(code, delay).toBe(2);
      expect(stderr).toContain('Expected a d');
    }
  });
});
