import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { methodologyVersion } from '../../../src/core/analytics/methodology.ts';
import { shownGreek } from '../../../src/core/domain/chain/chain.ts';
import { greekNames } from '../../../src/core/domain/chain/chain-columns.ts';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../src/intake/ingest/chains/chain.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { recompute } from '../../../src/intake/ingest/recompute/recompute.ts';
import { chainCaptureAt, saveChainCapture } from '../../../src/store/chain/chain-captures.ts';
import { saveSeals } from '../../../src/store/market/session-seals.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { watchChanges } from '../../../src/store/versions/announcements.ts';
import type { Change } from '../../../src/store/versions/subjects.ts';
import { start, tapegraph } from '../../cli/command-line.ts';
import { modelColumns } from '../../support/model-columns.ts';
import { chainCapture, chainRow } from '../../support/option-market.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { quotedContracts, quotedTape, vendorLinesOf, worth } from '../../support/tapes/quoted-tape.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [monday, tuesday] = ['2026-11-16', '2026-11-17'];
const now = () => exchangeInstant('2026-11-18', 60);
const temporary = temporaryFolder();
const every = { symbol: null, from: null, to: null };
const usual = { rate: 0.045, now: Date.now };

/**
 * A chain near the money; its source gives greeks of the first contract alone, and none of the last is quoted later.
 */
function chainAt(tsMs: number, isFirst: boolean) {
  const ids = ['C05950', 'P05950', 'C06000', 'P06000', 'C06050', 'P06050', 'C06500'];
  const rows = ids.map((id, i) => {
    const contract = readOptionContract(`SPXW261218${id}000`)!;
    const fair = worth(contract, 6000, tsMs);
    const source = i === 0 ? { iv: 0.1987, delta: 0.6201, gamma: 0.0012 } : {};
    const quote = i < 6 || isFirst ? { bid: fair - 0.02, ask: fair + 0.02 } : {};
    return chainRow({ ...contract, openInterest: 100, ...quote, ...source });
  });
  return chainCapture('SPX', tsMs, rows, { spot: 6000, priorCloseSpot: 6000 });
}

async function published(store: TestStore, session?: string): Promise<unknown[]> {
  const of = session ? `WHERE session_date = '${session}'` : '';
  const chains = await store.pool.query(
    `SELECT ${modelColumns('chain_captures')} FROM chain_captures ${of} ORDER BY captured_at`,
  );
  const gex = await store.pool.query(
    `SELECT ${modelColumns('gex_captures')} FROM gex_captures ${of} ORDER BY captured_at`,
  );
  return [chains.rows, gex.rows];
}

/**
 * Brings captures into the form in which the first version stored them: what was solved fills the gaps of the source,
 * and no rate is held.
 */
async function asOfVersion1(store: TestStore): Promise<void> {
  const { rows } = await store.pool.query('SELECT captured_at FROM chain_captures');
  await inTransaction(store, async (tx) => {
    for (const { captured_at: atMs } of rows) {
      const chain = (await chainCaptureAt(tx, 'SPX', Number(atMs)))!;
      const merged = chain.rows.map(({ solved, ...row }) => ({
        ...row,
        ...Object.fromEntries(
          greekNames.map((name) => [name, shownGreek({ ...row, ...(solved && { solved }) }, name)]),
        ),
      }));
      await saveChainCapture(tx, { ...chain, rate: null, rows: merged });
    }
    await tx.query(`UPDATE gex_captures SET methodology_version = '1', net_gex = 1, version = 'of 1'`);
  });
}

/** Runs the command and kills it while it computes Tuesday: Monday is committed then. */
async function killedOnTuesday(store: TestStore): Promise<void> {
  const old = await published(store, tuesday);
  const holder = await store.pool.connect();
  await holder.query(`BEGIN; SELECT 1 FROM gex_captures WHERE session_date = '${tuesday}' FOR UPDATE`);
  const { child } = start(['recompute', 'chain'], { DATABASE_URL: store.databaseUrl });
  onTestFinished(() => void child.kill('SIGKILL'));
  const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  for (let tries = 0; tries < 10_000; tries++) {
    if (Number((await store.pool.query(waiting)).rows[0].count) > 0) break;
    await pause(20);
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  await holder.query('ROLLBACK');
  holder.release();
  expect(await published(store, tuesday)).toEqual(old);
}

describe('captures of version 1', () => {
  let store: TestStore;
  let expected: unknown[];
  beforeEach(async () => {
    store = await storeForThisTest();
    for (const session of [monday, tuesday])
      for (const minute of [600, 605])
        await inTransaction(store, (tx) =>
          storeChain(tx, chainAt(exchangeInstant(session, minute), minute === 600), { gammaSource: 'solve', ...usual }),
        );
    expected = await published(store);
    await asOfVersion1(store);
  }, 300_000);

  test('come to what they would be, were they captured now: the source’s greeks are told from ours', async () => {
    const old = await published(store);
    expect(old).not.toEqual(expected);
    const [chain] = old[0] as { rate: number | null }[];
    expect(chain!.rate).toBeNull();
    const heard: Change[] = [];
    const changes = await watchChanges(store);
    changes.onChange((change) => heard.push(change));
    const seen: string[] = [];
    const reports = await recompute(store, 'chain', every, {
      ...usual,
      onProgress: ({ session }, index, count) => seen.push(`${index + 1}/${count} ${session}`),
    });
    expect(reports.map(({ underlying, session, status }) => [underlying, session, status])).toEqual([
      ['SPX', monday, 'recomputed'],
      ['SPX', tuesday, 'recomputed'],
    ]);
    expect(seen).toEqual([`1/2 ${monday}`, `2/2 ${tuesday}`]);
    expect(await published(store)).toEqual(expected);
    expect(heard.filter(({ gex, chain }) => gex?.includes('SPX') && chain?.includes('SPX'))).toHaveLength(2);
    await changes.stop();
    expect(await recompute(store, 'chain', every, usual)).toEqual([]);
  }, 300_000);

  test('of the sessions and the symbol that were asked for alone', async () => {
    const tuesdays = { symbol: 'SPX', from: tuesday, to: tuesday };
    expect(await recompute(store, 'chain', { ...every, symbol: 'SPY' }, usual)).toEqual([]);
    expect((await recompute(store, 'chain', tuesdays, usual)).map(({ session }) => session)).toEqual([tuesday]);
    expect((await recompute(store, 'chain', { ...every, to: monday }, usual)).length).toBe(1);
    expect(await published(store)).toEqual(expected);
  }, 300_000);

  test('of a sealed session are refused and stay; the others go on', async () => {
    await inTransaction(store, (tx) => saveSeals(tx, monday, ['SPX'], now()));
    const before = await published(store, monday);
    const reports = await recompute(store, 'chain', every, usual);
    expect(reports.map(({ status, reason }) => [status, reason])).toEqual([
      ['refused', expect.stringContaining(`${monday} is sealed for SPX`)],
      ['recomputed', null],
    ]);
    expect(await published(store, monday)).toEqual(before);
  }, 300_000);

  test('are whole, old or new, when the command is killed, and the next run does the rest', async () => {
    await killedOnTuesday(store);
    const reports = await recompute(store, 'chain', every, usual);
    expect(reports.map(({ session, status }) => [session, status])).toEqual([[tuesday, 'recomputed']]);
    expect(await published(store)).toEqual(expected);
  }, 300_000);
});

describe('captures of version 2', () => {
  let store: TestStore;
  let expected: unknown[];
  /** Nets of the captures, now and as the older version is made to have stored them. */
  let nets: number[];
  beforeEach(async () => {
    store = await storeForThisTest();
    for (const session of [monday, tuesday])
      for (const minute of [600, 605])
        await inTransaction(store, (tx) =>
          storeChain(tx, chainAt(exchangeInstant(session, minute), minute === 600), { gammaSource: 'solve', ...usual }),
        );
    expected = await published(store);
    nets = (expected[1] as { net_gex: number }[]).map(({ net_gex }) => net_gex);
    await store.pool.query(`UPDATE gex_captures SET methodology_version = '2', net_gex = net_gex + 1e6, version = 'of 2',
      net_call_wall = NULL, net_put_wall = NULL, flip_status = NULL, gamma_decimals = NULL, inputs = NULL,
      product_version = NULL, flip_point = 123`);
  }, 300_000);

  const command = (...options: string[]) =>
    tapegraph(['recompute', 'chain', ...options], { DATABASE_URL: store.databaseUrl });

  test('keep their version until they are recomputed, and the report says what moved of each session', async () => {
    const { rows } = await store.pool.query('SELECT DISTINCT methodology_version AS version FROM gex_captures');
    expect(rows).toEqual([{ version: '2' }]);
    const report = JSON.parse((await command('--json', '--to', monday)).stdout);
    expect(report).toMatchObject({ dataset: 'chain', methodology_version: methodologyVersion, recomputed: 1 });
    const [levels] = expected[1] as {
      call_wall: number;
      net_call_wall: number;
      put_wall: number;
      net_put_wall: number;
    }[];
    const moved = levels!.call_wall !== levels!.net_call_wall || levels!.put_wall !== levels!.net_put_wall;
    expect(report.sessions).toEqual([
      {
        underlying: 'SPX',
        session: monday,
        status: 'recomputed',
        changed: 2,
        reason: null,
        captures: 2,
        net_before: nets[1]! + 1e6,
        net_after: nets[1],
        largest_net_change: expect.closeTo(1e6, 3),
        nets_moved: 2,
        walls_moved: moved ? 2 : 0,
        flip_points_moved: 2,
        flip_statuses_moved: 2,
        zero_gammas_moved: 0,
        implied_spots_moved: 0,
        stale_spots_moved: 0,
        atm_ivs_moved: 0,
        max_pains_moved: 0,
        expected_moves_moved: 0,
        inconsistent_expiries_moved: 0,
        vannas_moved: 0,
        charms_moved: 0,
      },
    ]);
    const { stdout } = await command();
    const millions = (dollars: number) => `${(dollars / 1e6).toFixed(1)}m`;
    expect(stdout).toContain(
      `2 changed; of 2 captures: net GEX of the last ${millions(nets[3]! + 1e6)} to ${millions(nets[3]!)} dollars per $1, at most 1.0m in one; moved: nets in 2, `,
    );
    expect(stdout).toContain('flip points in 2, flip statuses in 2\n');
    expect(await published(store)).toEqual(expected);
  }, 300_000);

  test('come to version 3 in the next run, when one is killed', async () => {
    await killedOnTuesday(store);
    const { sessions } = JSON.parse((await command('--json')).stdout);
    expect(sessions).toMatchObject([{ session: tuesday, status: 'recomputed', net_after: nets[3] }]);
    expect(await published(store)).toEqual(expected);
    expect(JSON.parse((await command('--json')).stdout).sessions).toEqual([]);
  }, 300_000);
});

test('auction prints of large trades get the sides that their stored quotes tell', async () => {
  const store = await storeForThisTest();
  const folder = temporary();
  const call = 'O:SPY261218C00600000';
  const stamp = (ms: number) => `${exchangeInstant(monday, 600) + ms}000000`;
  const trade = (ms: number, condition: number) => `${call},${condition},0,302,5,${stamp(ms)},400`;
  const quote = (ms: number, bid: number, ask: number) => `${call},302,${ask},10,302,${bid},10,1,${stamp(ms)}`;
  const [trades, quotes] = [join(folder, 'trades.csv'), join(folder, 'quotes.csv')];
  const quoteHeader =
    'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp';
  writeFileSync(quotes, [quoteHeader, quote(0, 4.8, 5), quote(2000, 5, 5.2)].join('\n'));
  const lines = [trade(1000, 227), trade(1500, 209), trade(2500, 233), trade(3000, 229), trade(9000, 227)];
  writeFileSync(trades, ['ticker,conditions,correction,exchange,price,sip_timestamp,size', ...lines].join('\n'));
  await ingestFiles(store, 'option-quotes', [quotes], { now });
  await ingestFiles(store, 'option-trades', [trades], { now, solveMost: 0 });
  const sides = async () =>
    (
      await store.pool.query(
        'SELECT e.side, l.side AS leg FROM flow_events e JOIN flow_legs l USING (event_id) ORDER BY e.event_ts_ms',
      )
    ).rows;
  const expected = await sides();
  expect(expected.map(({ side }) => side)).toEqual([
    'buy_inferred',
    'buy_inferred',
    'sell_inferred',
    'unknown',
    'unknown',
  ]);
  for (const table of ['flow_events SET side', 'flow_legs SET side'])
    await store.pool.query(`UPDATE ${table} = 'unknown' WHERE event_ts_ms <> $1`, [
      exchangeInstant(monday, 600) + 1500,
    ]);
  expect(await sides()).not.toEqual(expected);
  const reports = await recompute(store, 'flow', every, usual);
  expect(reports).toMatchObject([{ underlying: 'SPY', session: monday, status: 'recomputed', changed: 2 }]);
  expect(await sides()).toEqual(expected);
  expect(await recompute(store, 'flow', every, usual)).toMatchObject([{ status: 'unchanged' }]);
}, 300_000);

describe('minutes of an older version', () => {
  let store: TestStore;
  let expected: unknown[];
  const minutes = async () =>
    (await store.pool.query(`SELECT ${modelColumns('greeks_minutes')} FROM greeks_minutes ORDER BY underlying, ts_ms`))
      .rows;
  beforeEach(async () => {
    store = await storeForThisTest();
    const folder = temporary();
    const [trades, quotes] = [join(folder, 'trades.csv'), join(folder, 'quotes.csv')];
    const lines = vendorLinesOf(quotedTape());
    writeFileSync(trades, lines.trades.join('\n'));
    writeFileSync(quotes, lines.quotes.join('\n'));
    // Their prices tell what the underlyings cost; one is quoted, as the yields of a full hour are read off chains.
    for (const [underlying, spot, minute] of [
      ['SPX', 6000, 571],
      ['SPY', 600, 571],
      ['SPY', 601, 595],
    ] as const)
      await inTransaction(store, (tx) => {
        const tsMs = exchangeInstant(monday, minute);
        const rows = quotedContracts
          .map((id) => readOptionContract(id)!)
          .filter(({ root }) => root.startsWith(underlying));
        const quoted = rows.map((contract) => {
          const fair = worth(contract, spot, tsMs);
          return chainRow({ ...contract, bid: fair - 0.02, ask: fair + 0.02 });
        });
        const chain = chainCapture(underlying, tsMs, quoted, { spot, priorCloseSpot: spot });
        return storeChain(tx, chain, { gammaSource: 'solve', rate: 0.03 });
      });
    await store.pool.query('UPDATE symbols SET registered = true, window_days = 60');
    await ingestFiles(store, 'option-trades', [trades], { now, quoteFiles: [quotes], rate: 0.03 });
    expected = await minutes();
    expect(expected.length).toBeGreaterThan(60);
  }, 300_000);

  test('come to what the tape would give, from the marks, quotes and rate that they hold, once', async () => {
    await store.pool.query(
      `UPDATE greeks_minutes SET methodology_version = '1', version = 'of 1',
       payload = overlay(payload PLACING '\\x000000000000e03f'::bytea FROM 1)`,
    );
    expect(await minutes()).not.toEqual(expected);
    const reports = await recompute(store, 'greeks', { ...every, symbol: 'SPY' }, usual);
    expect(reports).toMatchObject([{ underlying: 'SPY', session: monday, status: 'recomputed' }]);
    expect(await recompute(store, 'greeks', every, usual)).toMatchObject([{ underlying: 'SPX', status: 'recomputed' }]);
    expect(await minutes()).toEqual(expected);
    expect(await recompute(store, 'greeks', every, usual)).toEqual([]);
  }, 300_000);

  test('that do not hold their rate take the one that is given', async () => {
    await store.pool.query('UPDATE greeks_minutes SET methodology_version = NULL, rate = NULL');
    expect(await recompute(store, 'greeks', every, { ...usual, rate: 0.03 })).toMatchObject([
      { status: 'unchanged' },
      { status: 'unchanged' },
    ]);
    expect(await minutes()).toEqual(expected);
  }, 300_000);
});
