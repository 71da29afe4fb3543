import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { runSampleMarket } from '../../../src/intake/ingest/sample/live.ts';
import { ensureSampleMarket } from '../../../src/intake/ingest/sample/sample-market.ts';
import { liveTapeLines } from '../../../src/intake/sample/market/live-tape.ts';
import { optionTapeFile } from '../../../src/intake/sample/market/options/option-tape-file.ts';
import { samplePrices } from '../../../src/intake/sample/market/prices.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { optionLedger } from '../../support/tapes/planted-options.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const session = '2026-11-19';
const tape = { optionPrints: 6000, plants: 200, stockPrints: 6000, symbols: ['SPX', 'SPY', 'NVDA', 'TSLA'] };
const shape = { barSessions: 1, chainSessions: 1, historySessions: 1, captureEveryMinutes: 5, tapeSessions: 1, tape };
const startMs = exchangeInstant(session, 11 * 60);
// The clock halts here, so that every run ends with the same tape.
const haltMs = startMs + 9000;

describe('the sample market of a session under way', () => {
  const folder = temporaryFolder();
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
    await ensureStarterRegistry(store, () => startMs);
    await ensureSampleMarket(store, { dataDir: folder(), now: () => startMs, shape, besideTape: true });
  });
  afterAll(() => store.close());

  const rows = async (sql: string) => (await store.pool.query(sql)).rows;
  const taken = async () => {
    const [row] = await rows(`SELECT value FROM store_facts WHERE key = 'followed sample market'`);
    return row ? (JSON.parse(row.value).lines as number) : 0;
  };
  const running = (from: number, halt = haltMs) => {
    const stop = new AbortController();
    const begun = Date.now();
    const now = () => Math.min(halt, from + Date.now() - begun);
    const failures: unknown[] = [];
    const onEvent = ({ error }: { error?: unknown }) => void (error && failures.push(error));
    const ended = runSampleMarket(store, { dataDir: folder(), now, stop: stop.signal, onEvent, shape });
    const end = () => {
      stop.abort();
      return ended;
    };
    onTestFinished(end);
    return { now, failures, end };
  };
  const what = async () => ({
    events: await rows(
      `SELECT event_id, premium_usd, total_size, side FROM flow_events WHERE session_date = '${session}' ORDER BY 1`,
    ),
    legs: await rows(`SELECT count(*) FROM flow_legs WHERE session_date = '${session}'`),
    volume: await rows(`SELECT symbol, volume, spot FROM live_quotes ORDER BY 1`),
    bars: await rows(
      `SELECT md5(string_agg(r, '' ORDER BY r)) FROM (SELECT (to_jsonb(b) - 'generation_ms')::text AS r FROM option_bar_blocks b) AS rows`,
    ),
  });
  const until = async (is: () => Promise<boolean>) => {
    for (const end = Date.now() + 30_000; !(await is()); await delay(50))
      if (Date.now() > end) throw new Error('it did not come to that');
  };

  const stamp = (line: string) => Number(/"sip_timestamp":"(\d{13})/.exec(line)![1]);
  const dueBy = (atMs: number) =>
    [...liveTapeLines(samplePrices(), session, tape)].filter((line) => stamp(line) <= atMs).length;

  it('comes as the clock passes it, as observed live and not complete', async () => {
    // It halts before there is all, however slow the machine.
    const first = running(startMs, startMs + 1500);
    const firstDue = dueBy(startMs + 1500);
    await until(async () => first.now() >= startMs + 1500 && (await taken()) === firstDue);
    await first.end();
    expect(first.failures).toEqual([]);
    const [{ at }] = (await rows(`SELECT max(event_ts_ms) AS at FROM live_quotes`)) as [{ at: number }];
    expect(Number(at)).toBeLessThanOrEqual(haltMs);
    const coverages = await rows(
      `SELECT DISTINCT status, complete FROM flow_coverage WHERE session_date = '${session}'`,
    );
    expect(coverages).toEqual([{ status: 'observed_live', complete: false }]);
    // Every minute from the open up to now is solved, of the first contracts of each ticker to trade.
    const solved = await rows(
      `SELECT underlying, count(*)::int AS minutes, max(ts_ms) AS last, max(count) AS contracts FROM greeks_minutes GROUP BY 1 ORDER BY 1`,
    );
    expect(solved.map(({ underlying }) => underlying)).toEqual(tape.symbols.toSorted());
    expect(Math.max(...solved.map(({ last }) => Number(last)))).toBe(startMs - 60_000);
    for (const { minutes, contracts } of solved) {
      // A contract that is neither quoted nor traded for a quarter of an hour has no sample.
      expect(minutes).toBeGreaterThan(30);
      expect(contracts).toBeGreaterThan(0);
      expect(contracts).toBeLessThanOrEqual(4);
    }
  });

  it('goes on at the next start with nothing lost and nothing counted twice', async () => {
    const due = dueBy(haltMs);
    expect(await taken()).toBeLessThan(due);
    const second = running(startMs + 2000);
    await until(async () => second.now() >= haltMs && (await taken()) === due);
    await second.end();
    expect(second.failures).toEqual([]);
    const disturbed = await what();
    expect(disturbed.events.length).toBeGreaterThan(5);
    expect(disturbed.bars[0]!.md5).not.toBeNull();
    for (const table of [
      'flow_events',
      'flow_legs',
      'cross_sections',
      'contract_minute_blocks',
      'option_bar_blocks',
      'live_quotes',
      'flow_coverage',
    ])
      await store.pool.query(`DELETE FROM ${table}`);
    await store.pool.query(`DELETE FROM followed_lines`);
    await store.pool.query(`DELETE FROM store_facts WHERE key = 'followed sample market'`);
    // All of it at once, in one run.
    const undisturbed = running(haltMs - 1500);
    await until(async () => (await taken()) === due);
    await undisturbed.end();
    expect(await taken()).toBe(due);
    expect(await what()).toEqual(disturbed);
    // And it is what was planted; of the last seconds not all is over.
    const sure = ({ at }: { at: number }) => at < haltMs - 4000;
    const planted = optionLedger(optionTapeFile(samplePrices(), session, haltMs, tape).tape).events;
    const found = await rows(
      `SELECT event_id AS id, event_ts_ms AS at FROM flow_events WHERE session_date = '${session}'`,
    );
    expect(
      found
        .map(({ id, at }) => ({ id, at: Number(at) }))
        .filter(sure)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(
      planted
        .map(({ eventId: id, eventTsMs: at }) => ({ id, at }))
        .filter(sure)
        .map(({ id }) => id)
        .sort(),
    );
  });
});
