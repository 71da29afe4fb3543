import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { standardRoots } from '../../../src/core/domain/chain/option-root.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { runSampleMarket } from '../../../src/intake/ingest/sample/live.ts';
import { ensureSampleMarket } from '../../../src/intake/ingest/sample/sample-market.ts';
import { liveTapeLines } from '../../../src/intake/sample/market/live-tape.ts';
import { optionTapeFile } from '../../../src/intake/sample/market/options/option-tape-file.ts';
import { samplePrices } from '../../../src/intake/sample/market/prices.ts';
import { readOptionBarsOf } from '../../../src/store/chain/option-bars.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { testStore } from '../../support/store.ts';
import { optionLedger } from '../../support/tapes/planted-options.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const session = '2026-11-19';
const tape = { optionPrints: 6000, plants: 200, stockPrints: 6000, symbols: ['SPX', 'SPY', 'NVDA', 'TSLA'] };
const shape = { barSessions: 1, chainSessions: 1, historySessions: 1, captureEveryMinutes: 35, tapeSessions: 1, tape };
const at = (hour: number, minute: number, second = 0) => exchangeInstant(session, hour * 60 + minute) + second * 1000;
const beforeClose = at(15, 58);
const tapeEnd = at(18, 0);

/** The sample market in a store of its own, with readers; the clock stands until it is set. */
async function market(folder: string) {
  const store = await testStore();
  await ensureStarterRegistry(store, () => beforeClose);
  const app = await testApp({ store, nowMs: beforeClose, symbols: [] });
  const now = () => app.clock.nowMs;
  const options = { dataDir: folder, now, shape };
  const bring = () => ensureSampleMarket(store, { ...options, besideTape: true });
  const run = () => {
    const stop = new AbortController();
    const failures: unknown[] = [];
    const onEvent = ({ error }: { error?: unknown }) => void (error && failures.push(error));
    const ended = runSampleMarket(store, { ...options, stop: stop.signal, onEvent });
    const end = async () => {
      stop.abort();
      await ended;
      expect(failures).toEqual([]);
    };
    onTestFinished(() => stop.abort());
    return end;
  };
  const rows = async (sql: string): Promise<Json[]> => (await store.pool.query(sql)).rows;
  return { app, bring, run, rows };
}

async function until(is: () => Promise<boolean>) {
  for (const end = Date.now() + 60_000; !(await is()); await delay(50))
    if (Date.now() > end) throw new Error('it did not come to that');
}

/** Reads the session as clients do. */
function reading(app: TestApp) {
  const data = async (path: string) => (await app.get(path)).body.data;
  return {
    async events() {
      const all: Json[] = [];
      for (const symbol of tape.symbols)
        all.push(...(await data(`/v2/flow/large-trades?symbol=${symbol}&session=${session}`)).events);
      return all;
    },
    coverage: async (symbol: string) =>
      (await data(`/v2/flow/${symbol}/cross-section?session=${session}`)).snapshot.coverage,
    async ranked(query: string, credential?: string) {
      const answer = await app.get(`/v2/flow/eod?session=${session}&${query}`, credential ? { credential } : {});
      return answer.body.data;
    },
    offExchange: async () => (await data(`/v2/offexchange/NVDA/activity?from=${session}&to=${session}`)) as Json[],
  };
}

const stamps = [...liveTapeLines(samplePrices(), session, tape)].map((line) =>
  Number(/"sip_timestamp":"(\d{13})/.exec(line)![1]),
);
const linesUpTo = (tsMs: number) => stamps.filter((stamp) => stamp <= tsMs).length;
const plantedIds = () =>
  optionLedger(optionTapeFile(samplePrices(), session, tapeEnd, tape).tape)
    .events.map(({ eventId }) => eventId)
    .sort();
const idsOf = (events: Json[]) => events.map((each) => each.update.event.event_id).sort();

describe('a session of the sample market that ends while its server runs', () => {
  const folder = temporaryFolder();
  let sample: Awaited<ReturnType<typeof market>>;
  beforeAll(async () => {
    sample = await market(folder());
    await sample.bring();
  });
  afterAll(() => sample.app.close());

  it('is live until the close and beyond it, and reconciled when its tape has ended', async () => {
    const { app, run, rows } = sample;
    const read = reading(app);
    const end = run();
    /** True if the whole tape up to now is read and written. */
    const caughtUp = async () => {
      const [row] = await rows(`SELECT value FROM store_facts WHERE key = 'followed sample market'`);
      return row !== undefined && JSON.parse(row.value).lines === linesUpTo(app.clock.nowMs);
    };
    await until(caughtUp);
    const statuses = () =>
      rows(`SELECT DISTINCT status, complete FROM flow_coverage WHERE session_date = '${session}'`);
    expect(await statuses()).toEqual([{ status: 'observed_live', complete: false }]);
    expect((await read.ranked('symbol=SPY')).prints).toEqual([]);
    expect(await rows(`SELECT * FROM off_exchange_sessions WHERE session_date = '${session}'`)).toEqual([]);

    // Beyond the close: all of the session's events, none of them final.
    app.clock.nowMs = at(16, 10);
    await until(caughtUp);
    await until(async () => (await rows(`SELECT max(captured_at) AS at FROM chain_captures`))[0].at >= at(15, 55));
    await until(async () => idsOf(await read.events()).length === plantedIds().length);
    expect(idsOf(await read.events())).toEqual(plantedIds());
    expect(await statuses()).toEqual([{ status: 'observed_live', complete: false }]);
    expect(await read.coverage('SPY')).toMatchObject({ status: 'observed_live', complete: false });
    expect((await read.ranked('symbol=SPY')).prints).toEqual([]);
    const live = await read.events();
    /** The bars of every contract that has any, however they are stored. */
    const bars = async () => {
      const stored = await rows(`SELECT DISTINCT contract FROM option_bar_blocks WHERE session_date = '${session}'`);
      const contracts = stored.map(({ contract: id }) => {
        const contract = readOptionContract(id)!;
        return { underlying: standardRoots.of(contract.root).underlying, contract };
      });
      const found = await readOptionBarsOf(app.store, contracts, session, '1m');
      return [...found].map(([contract, one]) => JSON.stringify([contract, one.bars])).sort();
    };
    const liveBars = await bars();
    expect(liveBars.length).toBeGreaterThan(100);

    // Two hours after the close: it is stored from its files.
    app.clock.nowMs = tapeEnd + 1000;
    await until(async () => (await statuses()).some(({ status }) => status === 'eod_reconciled'));
    expect(await statuses()).toEqual([{ status: 'eod_reconciled', complete: true }]);
    await until(async () => (await read.ranked('symbol=SPY')).prints.length > 0);
    const reconciled = await read.events();
    expect(idsOf(reconciled)).toEqual(plantedIds());
    for (const { coverage } of reconciled) expect(coverage).toMatchObject({ status: 'eod_reconciled', complete: true });
    // The live events were right: sides, sizes and legs are those of the whole tape.
    const said = (events: Json[]) => events.map(({ update }) => JSON.stringify(update.event)).sort();
    expect(said(reconciled)).toEqual(said(live));
    expect(await bars()).toEqual(liveBars);
    expect(await rows(`SELECT DISTINCT status FROM option_bar_blocks WHERE session_date = '${session}'`)).toEqual([
      { status: 'eod_reconciled' },
    ]);
    const free = await read.ranked('min_premium_usd=0');
    expect(free).toMatchObject({ tier: 'free', coverage_status: 'eod_reconciled' });
    expect(free.prints.length).toBeGreaterThan(50);
    expect((await read.ranked('min_premium_usd=0', await app.session())).prints[0].premium_usd).toBeGreaterThan(0);
    expect(await read.offExchange()).toEqual([]);
    // Off-exchange figures appear the morning after.
    app.clock.nowMs = exchangeInstant('2026-11-20', 9 * 60 + 40);
    await until(async () => (await read.offExchange()).length > 0);
    expect((await read.offExchange())[0]).toMatchObject({ date: session });
    await end();
  });
});

describe('a session of the sample market that ended while no server ran', () => {
  const folder = temporaryFolder();

  it('is reconciled by a start from a quarter of an hour after the close on', async () => {
    const { app, bring, run, rows } = await market(folder());
    onTestFinished(() => app.close());
    await bring();
    const end = run();
    await until(async () => (await rows(`SELECT 1 FROM flow_coverage WHERE session_date = '${session}'`)).length > 0);
    await end();
    const read = reading(app);
    app.clock.nowMs = at(16, 14);
    await bring();
    expect(await read.coverage('SPY')).toMatchObject({ status: 'observed_live', complete: false });
    app.clock.nowMs = at(16, 16);
    await bring();
    await until(async () => (await read.coverage('SPY')).status === 'eod_reconciled');
    expect(idsOf(await read.events())).toEqual(plantedIds());
    expect((await read.ranked('min_premium_usd=0')).prints.length).toBeGreaterThan(50);
    expect(await rows(`SELECT DISTINCT status, complete FROM flow_coverage WHERE session_date = '${session}'`)).toEqual(
      [{ status: 'eod_reconciled', complete: true }],
    );
    // Later trades are stored once the tape has ended.
    const volume = async () => (await rows(`SELECT sum(consolidated_volume) AS sum FROM off_exchange_sessions`))[0].sum;
    const before = await volume();
    app.clock.nowMs = tapeEnd + 1000;
    await bring();
    expect(await volume()).toBeGreaterThan(before);
  });
});
