import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboardQuery } from '../../src/pages/dashboard/client/data/operations.ts';
import { tapegraph } from '../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { hasSharedData, sharedData } from '../support/shared-data.ts';
import { testStore } from '../support/store.ts';

/** The commands of README.md for a chain and a key of one's own. */
const commands = [...readFileSync('README.md', 'utf8').matchAll(/^npm run tapegraph -- (.+)$/gm)]
  .map((match) => match[1]!)
  .filter((command) => /^(ingest chain|account set|key create) /.test(command));
const argumentsOf = (command: string) =>
  command.split(' ').map((each) => each.replace(/^vendor\//, `${sharedData('chains_cboe')}/`));

// The page of Sunday 2024-01-07, asked years later.
const capturedAt = Date.parse('2024-01-07T15:52:00Z');
// Its quotes are delayed by 15 minutes.
const sourceTime = capturedAt - 15 * 60_000;
const nowMs = Date.parse('2026-11-24T17:00:00Z');
const note =
  'The latest capture of SPX is of 2024-01-07, session 2024-01-05. There was no earlier chain of SPX to compare that of 2024-01-07 with: it may lack contracts.';
let app: TestApp;
let credential: string;

describe.skipIf(!hasSharedData)('the chain of 2024 that README.md ingests', () => {
  beforeAll(async () => {
    const store = await testStore();
    for (const command of commands) {
      const { code, stdout } = await tapegraph(argumentsOf(command), { DATABASE_URL: store.databaseUrl });
      expect([command, code]).toEqual([command, 0]);
      credential = /tg_live_\w+/.exec(stdout)?.[0] ?? credential;
    }
    app = await testApp({ store, symbols: [], nowMs });
  });
  afterAll(() => app?.close());

  const rest = async (path: string) => {
    const { status, body } = await app.get(path, { credential });
    expect(status).toBe(200);
    return body;
  };

  test('has one net and one flip point at every door, those of its own day', async () => {
    expect(commands).toHaveLength(3);
    const [grid, dated, figures, history] = await Promise.all([
      rest('/v2/gex/SPX/grid'),
      rest('/v2/gex/SPX/grid?at=2024-01-05'),
      rest('/v2/gex/SPX/figures'),
      rest('/v2/gex/SPX/history?date=2024-01-05'),
    ]);
    expect([grid.meta.plane, grid.meta.note]).toEqual(['archive', note]);
    expect(grid.data.captured_at).toBe(capturedAt);
    expect(grid.data.net_gex).toBeCloseTo(-239.0e6, -6);
    const net = grid.data.net_gex;
    expect([dated.data.net_gex, history.data.captures[0].net_gex]).toEqual([net, net]);
    expect([dated.data.flip_point, dated.data.strikes]).toEqual([grid.data.flip_point, grid.data.strikes]);
    expect(figures.data.net).toBeCloseTo(net, 4);
    const page = {
      symbol: 'SPX',
      past: false,
      sessionAt: '2024-01-05',
      session: '2024-01-05',
      timeframe: '5m',
      quotes: ['SPX'],
      from: '2024-01-05',
      to: '2024-01-06',
      activityFrom: '2024-01-05',
      offFrom: '2024-01-05',
      dailyFrom: '2024-01-05',
      dailyTo: '2024-01-06',
      offTo: '2024-01-05',
      flowSession: null,
      lists: false,
      flow: false,
      activity: false,
      heat: true,
      trades: false,
      volatility: true,
      offExchange: false,
    };
    const { data } = await app.graphql(dashboardQuery, page, { credential });
    const { latest, history: shown } = data.symbol.gex;
    expect([latest.netGex, shown.captures.length]).toEqual([net, 1]);
    const { rows } = (await app.graphql(`{ screener(where: { symbol: { eq: "SPX" } }) { rows { netGex asOf } } }`)).data
      .screener;
    expect(rows).toEqual([{ netGex: net, asOf: sourceTime }]);
    const reader = await readEvents(`${app.url}/v2/stream?topics=gex:SPX`, {
      headers: { authorization: `Bearer ${credential}` },
    });
    let event = await reader.next();
    while (event!.event === 'ready') event = await reader.next();
    reader.leave();
    expect(event!.data.net_gex).toBe(net);
  });

  test('keeps the expiries that have settled since, and levels, terms and max pain of its day', async () => {
    const { data: levels } = await rest('/v2/levels/SPX');
    const { data: latest } = await app.graphql(
      '{ symbol(symbol: "SPX") { gex { latest { expiries { expiry maxPain atmIv } } } } }',
      {},
      { credential },
    );
    const { expiries } = latest.symbol.gex.latest;
    expect(expiries[0].expiry < '2024-01-10').toBe(true);
    const pain = levels.levels.find(({ kind }: Json) => kind === 'max_pain');
    expect(pain.price).toBe(expiries.find(({ maxPain }: Json) => maxPain !== null).maxPain / 1000);
    const { data: term } = await rest('/v2/options/SPX/vol/term');
    expect(term.expiries.map(({ expiry }: Json) => expiry)).toEqual(expiries.map(({ expiry }: Json) => expiry));
    expect(term.expiries[0].dte).toBeLessThan(5);
    const { data: exposures } = await rest('/v2/gex/SPX/exposures');
    expect(exposures.by_expiry[0].expiry).toBe(expiries[0].expiry);
  });
});
