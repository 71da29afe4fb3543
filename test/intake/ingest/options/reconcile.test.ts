import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import {
  type ReconcileFiles,
  type ReconcileOptions,
  reconcile,
} from '../../../../src/intake/ingest/options/reconcile.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../../../support/app.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-16';
const nowMs = exchangeInstant(session, 1200);
const start = exchangeInstant(session, 600);
const call = 'O:SPY261218C00600000';
const put = 'O:SPY261218P00580000';
const aapl = 'O:AAPL261218C00250000';
const header = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
const trade = (ticker: string, ms: number, price: number, size: number) =>
  `${ticker},209,0,302,${price},${start + ms}000000,${size}`;
const day = (ticker: string, volume: number) => `${ticker},${volume},1,1,1,1,${exchangeInstant(session)}000000,1`;

describe('reconciling a session', () => {
  const folder = temporaryFolder();
  let app: TestApp;
  const write = (name: string, lines: string[], columns = header) => {
    const path = join(folder(), name);
    writeFileSync(path, [columns, ...lines].join('\n'));
    return path;
  };
  beforeAll(async () => {
    app = await testApp({ nowMs });
    write('spy.csv', [trade(call, 0, 5, 400), trade(call, -345_600_000, 5, 400)]);
    // The last is in no figure, but the tape reaches the close.
    const last = trade(put, 21_540_000, 2, 5).replace(',209,', ',247,');
    write('rest.csv', [trade(put, 10_000, 2, 700), trade(aapl, 20_000, 4, 500), last]);
    write(
      'day.csv',
      [day(call, 400), day(put, 700), day(aapl, 501), day('O:MSFT261218C00400000', 9)],
      'ticker,volume,open,close,high,low,window_start,transactions',
    );
  });
  afterAll(() => app.close());
  const run = (files: Partial<ReconcileFiles>, options: Partial<ReconcileOptions> = {}) =>
    reconcile(
      app.store,
      { trades: [join(folder(), 'spy.csv'), join(folder(), 'rest.csv')], quotes: [], dayAggregates: [], ...files },
      { session, maxErrors: 0, now: () => nowMs, ...options },
    );
  const events = async (symbol: string) =>
    (await app.get(`/v2/flow/large-trades?symbol=${symbol}&session=${session}`)).body.data.events;

  test('takes a tape in several files for one, and passes over prints of other sessions', async () => {
    expect(await run({})).toMatchObject({
      status: 'reconciled',
      prints: 3,
      contracts: 3,
      underlyings: 2,
      largeTrades: 3,
      differences: [],
    });
    expect((await events('SPY')).map((each: Json) => each.update.event.premium_usd)).toEqual([140_000, 200_000]);
    expect((await events('AAPL'))[0].coverage).toMatchObject({ status: 'eod_reconciled', complete: true });
  });

  test('stores what it finds although a file of the same name and content was ingested before something else', async () => {
    const only = join(folder(), 'rest.csv');
    await ingestFiles(app.store, 'option-trades', [only], { now: () => nowMs, replace: true });
    await vi.waitFor(async () => expect(await events('SPY')).toHaveLength(1), 20_000);
    await run({});
    await vi.waitFor(async () => expect(await events('SPY')).toHaveLength(2), 20_000);
  });

  test('reports volumes that differ from the day aggregates; their underlyings are not complete, the others are', async () => {
    const report = await run({ dayAggregates: [join(folder(), 'day.csv')] });
    expect(report).toMatchObject({ status: 'reconciled', compared: 4 });
    expect(report.differences).toEqual([{ underlying: 'AAPL', contract: aapl, tape: 500, dayAggregate: 501 }]);
    await vi.waitFor(async () => expect((await events('AAPL'))[0].coverage.complete).toBe(false), 20_000);
    expect((await events('SPY'))[0].coverage.complete).toBe(true);
  });

  test('day aggregates of venues, of which one would displace the other, are refused; repeats count once', async () => {
    const before = await events('SPY');
    const columns = 'ticker,volume,open,close,high,low,window_start,transactions';
    const aggregates = (name: string, lines: string[]) => [write(name, lines, columns)];
    const venues = aggregates('venues.csv', [day(call, 300), day(put, 700), day(call, 100), day(aapl, 500)]);
    expect(await run({ dayAggregates: venues })).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining(`venues.csv: lines of one bar differ: ${call} on ${session}`),
    });
    expect(await events('SPY')).toEqual(before);
    const twice = aggregates('twice.csv', [day(call, 400), day(put, 700), day(call, 400), day(aapl, 500)]);
    expect(await run({ dayAggregates: twice })).toMatchObject({ status: 'reconciled', compared: 3, differences: [] });
  });

  test('a contract that only the day aggregates name is a difference too', async () => {
    const report = await run({ trades: [join(folder(), 'spy.csv')], dayAggregates: [join(folder(), 'day.csv')] });
    expect(report.differences).toEqual([{ underlying: 'SPY', contract: put, tape: 0, dayAggregate: 700 }]);
  });

  test('is refused before the session is over, without a print of it, and with bad lines; what was there stands', async () => {
    const before = await events('SPY');
    expect(await run({}, { now: () => start })).toMatchObject({ status: 'refused', reason: `${session} is not over` });
    expect(await run({}, { session: '2026-11-13' })).toMatchObject({
      status: 'refused',
      reason: 'spy.csv: no print of 2026-11-13',
    });
    const bad = write('bad.csv', [trade(call, 0, 5, 1), trade(call, 0, 5, 0)]);
    expect(await run({ trades: [bad] })).toMatchObject({ status: 'refused', badLineCount: 1, badLines: [{ line: 3 }] });
    expect(await events('SPY')).toEqual(before);
  });

  test('on the command line says what it did, leaves with 1 when refused, and wants a session', async () => {
    const env = { DATABASE_URL: app.store.databaseUrl };
    const spy = join(folder(), 'spy.csv');
    const past = write('past.csv', [`${call},209,0,302,5,${exchangeInstant('2024-03-15', 600)}000000,400`]);
    const told = await tapegraph(['reconcile', '--session', '2024-03-15', past], env);
    expect(told).toMatchObject({ code: 0, stderr: '' });
    expect(told.stdout).toBe(
      'reconciled 2024-03-15  1 prints of 1 contracts, 1 underlyings; 1 large trades\n' +
        '           2024-03-15: 0 → 1 print of 1 symbol\n',
    );
    const refused = await tapegraph(['reconcile', '--session', '2024-03-18', '--json', past], env);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ status: 'refused', reason: 'past.csv: no print of 2024-03-18' });
    expect((await tapegraph(['reconcile', spy], env)).code).toBe(2);
  });
});
