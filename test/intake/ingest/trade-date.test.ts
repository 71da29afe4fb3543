import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dataset as AnyDataset } from '../../../src/core/domain/dataset.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../src/intake/ingest/options/reconcile.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { contentsOf } from '../../support/store-contents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/*
 * Prints of evenings and weekends: 2026-11-13 is a Friday. All times are New York's in winter, five hours behind UTC.
 */
const newYork = (written: string) => Date.parse(`${written}-05:00`);
const [friday, monday, tuesday] = ['2026-11-13', '2026-11-16', '2026-11-17'];
const nowMs = newYork('2026-11-18T12:00');
const now = () => nowMs;
const option = 'O:SPXW261120C06000000';

const instants = {
  fridayNoon: newYork('2026-11-13T12:00'),
  fridayLast: newYork('2026-11-13T19:59:59.999'),
  fridayEvening: newYork('2026-11-13T20:00'),
  saturday: newYork('2026-11-14T11:00'),
  sundayEvening: newYork('2026-11-15T20:15'),
  mondayNight: newYork('2026-11-16T03:00'),
  mondayNoon: newYork('2026-11-16T12:00'),
  // Behind the midnight of UTC, at which some vendors cut their files.
  mondayLate: newYork('2026-11-16T19:30'),
  mondayEvening: newYork('2026-11-16T20:15'),
  tuesdayNoon: newYork('2026-11-17T12:00'),
};
type Name = keyof typeof instants;
const names = Object.keys(instants) as Name[];
const dateOf: Record<Name, string> = {
  fridayNoon: friday!,
  fridayLast: friday!,
  fridayEvening: monday!,
  saturday: monday!,
  sundayEvening: monday!,
  mondayNight: monday!,
  mondayNoon: monday!,
  mondayLate: monday!,
  mondayEvening: tuesday!,
  tuesdayNoon: tuesday!,
};

// Volumes that every sum shows apart.
const sizeOf = (name: Name) => 100 * 2 ** names.indexOf(name);
const sizesOf = (date: string) =>
  names.filter((name) => dateOf[name] === date).reduce((sum, name) => sum + sizeOf(name), 0);

const formats = {
  'option-trades': {
    header: 'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    line: (ms: number, name: Name) => `${option},209,0,302,50,${ms}000000,${sizeOf(name)}`,
  },
  'stock-trades': {
    header:
      'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp',
    line: (ms: number, name: Name) =>
      `SPY,,0,4,${names.indexOf(name) + 1},${ms}000000,600,${names.indexOf(name) + 1},${ms}000000,${sizeOf(name)},2,202,`,
  },
  'option-minute-bars': {
    header: 'ticker,volume,open,close,high,low,window_start,transactions',
    line: (ms: number, name: Name) => `${option},${sizeOf(name)},50,50,50,50,${ms - (ms % 60_000)}000000,1`,
  },
  'stock-minute-bars': {
    header: 'ticker,volume,open,close,high,low,window_start,transactions',
    line: (ms: number, name: Name) => `SPY,${sizeOf(name)},600,600,600,600,${ms - (ms % 60_000)}000000,1`,
  },
} satisfies Partial<Record<AnyDataset, { header: string; line: (ms: number, name: Name) => string }>>;
type Dataset = keyof typeof formats;

const folder = temporaryFolder();
let files = 0;
function file(dataset: Dataset, of: readonly Name[]): string {
  const path = join(folder(), `${files++}-${dataset}.csv`);
  const { header, line } = formats[dataset];
  writeFileSync(path, [header, ...of.map((name) => line(instants[name], name))].join('\n'));
  return path;
}

async function ingest(store: TestStore, dataset: AnyDataset, paths: readonly string[]) {
  for (const path of paths) {
    const [report] = (await ingestFiles(store, dataset, [path], { now })).files;
    expect(report).toMatchObject({ status: 'stored', badLineCount: 0 });
  }
}

describe('prints of evenings and days without trading', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs });
    for (const dataset of Object.keys(formats) as Dataset[]) {
      // Bars of a file would take the place of those of the tape.
      if (dataset.endsWith('-trades')) await ingest(app.store, dataset, [file(dataset, names)]);
    }
  });
  afterAll(() => app.close());
  const data = async (path: string): Promise<Json> => (await app.get(path)).body.data;

  test.each([friday!, monday!, tuesday!])('are of the trading day that follows: %s', async (date) => {
    const { snapshot } = await data(`/v2/flow/SPX/cross-section?session=${date}`);
    expect(snapshot.update.by_expiration[0].measures.call_volume).toBe(sizesOf(date));
    const bars = await data(`/v2/options/${encodeURIComponent(option)}/bars?session=${date}`);
    expect(bars.bars.map((bar: Json) => [bar.ts_ms, bar.volume])).toEqual(
      names
        .filter((name) => dateOf[name] === date)
        .map((name) => [instants[name] - (instants[name] % 60_000), sizeOf(name)]),
    );
    const { events } = await data(`/v2/flow/large-trades?symbol=SPX&session=${date}`);
    const sizes = events.map((each: Json) => each.update.event.total_size);
    expect(sizes.toSorted((a: number, b: number) => a - b)).toEqual(
      names.filter((name) => dateOf[name] === date).map(sizeOf),
    );
    for (const each of events) expect(each.coverage.session_date).toBe(date);
  });

  test('the sessions of a day without trading have nothing', async () => {
    for (const date of ['2026-11-14', '2026-11-15']) {
      expect((await data(`/v2/flow/SPX/cross-section?session=${date}`)).snapshot).toBeNull();
      expect((await data(`/v2/flow/large-trades?symbol=SPX&session=${date}`)).events).toEqual([]);
    }
    const { rows } = await app.store.pool.query(
      `SELECT DISTINCT session_date AS date FROM flow_coverage UNION SELECT session_date FROM off_exchange_sessions
       UNION SELECT session_date FROM option_bar_blocks UNION SELECT span_start FROM bar_blocks WHERE timeframe = '1m'
       ORDER BY 1`,
    );
    expect(rows.map(({ date }) => date)).toEqual([friday, monday, tuesday]);
  });

  test('an event is read by its id in the session of its first leg', async () => {
    const { data: found } = await app
      .send('POST', '/graphql', {
        body: JSON.stringify({
          query: `{ largeTrades(symbol: "SPX", session: "${monday}") { events { update { event { id totalSize } } } } }`,
        }),
      })
      .then(({ body }) => body);
    const events: Json[] = found.largeTrades.events.map((each: Json) => each.update.event);
    expect(events).toHaveLength(6);
    for (const { id, totalSize } of events) {
      const body = JSON.stringify({
        query: 'query($id: ID!) { node(id: $id) { ... on FlowEvent { totalSize } } }',
        variables: { id },
      });
      const answer = await app.send('POST', '/graphql', { body });
      expect(answer.body.data.node).toEqual({ totalSize });
    }
  });

  test('count in the off-exchange figures, the day bar and the minutes of that session', async () => {
    const activity = await data(`/v2/offexchange/SPY/activity?from=${friday}&to=${tuesday}`);
    expect(activity.map((row: Json) => [row.date, row.off_exch_volume])).toEqual([[monday, sizesOf(monday!)]]);
    const daily = await data(`/v2/stocks/SPY/bars?timeframe=1d&from=${friday}&to=2026-11-18`);
    expect(daily.map((bar: Json) => [bar.ts_ms, bar.volume])).toEqual(
      [friday, monday, tuesday].map((date) => [newYork(`${date}T00:00`), sizesOf(date!)]),
    );
  });

  test.each(['1s', '1m', '5m', '1h'])(
    'bars of %s are found by their instants, across sessions and in pages',
    async (timeframe) => {
      const lengthMs = { '1s': 1000, '1m': 60_000, '5m': 300_000, '1h': 3_600_000 }[timeframe]!;
      const starts = names.map((name) => instants[name] - (instants[name] % lengthMs));
      const read = async (fromMs: number, toMs: number) =>
        (await data(`/v2/stocks/SPY/bars?timeframe=${timeframe}&from=${fromMs}&to=${toMs}`)).map(
          (bar: Json) => bar.ts_ms,
        );
      expect(await read(instants.fridayNoon - lengthMs, instants.tuesdayNoon + 1)).toEqual(starts);
      // Around each bar, whichever block it is in.
      for (const [i, startMs] of starts.entries()) {
        expect(await read(startMs, startMs + 1)).toEqual([startMs]);
        expect(await read(startMs + 1, nowMs)).toEqual(starts.slice(i + 1));
        expect(await read(instants.fridayNoon - lengthMs, startMs)).toEqual(starts.slice(0, i));
      }
      const paged: number[] = [];
      for (let cursor = ''; ; ) {
        const query = `timeframe=${timeframe}&from=${friday}&to=2026-11-18&limit=3${cursor}`;
        const { body } = await app.get(`/v2/stocks/SPY/bars?${query}`);
        paged.push(...body.data.map((bar: Json) => bar.ts_ms));
        if (body.meta.cursor == null) break;
        cursor = `&cursor=${encodeURIComponent(body.meta.cursor)}`;
      }
      expect(paged).toEqual(starts);
    },
  );
});

describe('files cut at the midnight of UTC and files of trade dates', () => {
  // The midnight of UTC after Monday lies between noon and 19:30.
  const atUtcMidnight = [names.slice(0, 2), names.slice(2, 7), names.slice(7)];
  const atTradeDates = [friday!, monday!, tuesday!].map((date) => names.filter((name) => dateOf[name] === date));
  // Which file a row came from, and what that file was, is no data of a session.
  const omitted = { tables: ['ingested_files'] };

  test.each(['option-minute-bars', 'stock-minute-bars'] as const)('store the same %s', async (dataset) => {
    const stored = await Promise.all(
      [atUtcMidnight, atTradeDates].map(async (parts) => {
        const store = await storeForThisTest();
        await ingest(
          store,
          dataset,
          parts.map((part) => file(dataset, part)),
        );
        return contentsOf(store, omitted);
      }),
    );
    expect(stored[0]).toEqual(stored[1]);
    const [blocks, date] =
      dataset === 'stock-minute-bars' ? ['bar_blocks', 'span_start'] : ['option_bar_blocks', 'session_date'];
    const dates = stored[0]![blocks!]!.map((row) => JSON.parse(row)).filter(({ timeframe }) => timeframe === '1m');
    expect(dates.map((row) => row[date!]).sort()).toEqual([friday, monday, tuesday]);
  });

  test('reconcile to the same session when they are given together', async () => {
    const stored = await Promise.all(
      [atUtcMidnight, atTradeDates].map(async (parts) => {
        const store = await storeForThisTest();
        const trades = parts.map((part) => file('option-trades', part));
        for (const session of [friday!, monday!, tuesday!]) {
          const report = await reconcile(
            store,
            { trades, quotes: [], dayAggregates: [] },
            { session, maxErrors: 0, now },
          );
          expect(report).toMatchObject({ status: 'reconciled' });
        }
        return contentsOf(store, omitted);
      }),
    );
    expect(stored[0]).toEqual(stored[1]);
    expect(stored[0]!.flow_events).toHaveLength(names.length);
  });
});

test('a file that begins with the evening before its day changes nothing of the day before', async () => {
  const store = await storeForThisTest();
  const of = async (date: string) => {
    const { rows } = await store.pool.query(
      `SELECT payload FROM bar_blocks WHERE span_start = $1 AND timeframe = '1m'
       UNION ALL SELECT convert_to(to_json(x)::text, 'UTF8') FROM (SELECT symbol, version FROM off_exchange_sessions WHERE session_date = $1) AS x
       UNION ALL SELECT payload FROM option_bar_blocks WHERE session_date = $1`,
      [date],
    );
    return rows.map(({ payload }) => payload.toString('base64')).sort();
  };
  const mondays = ['mondayNight', 'mondayNoon', 'mondayLate'] as const;
  const tuesdays = ['mondayEvening', 'tuesdayNoon'] as const;
  for (const dataset of ['stock-trades', 'option-trades'] as const)
    await ingest(store, dataset, [file(dataset, mondays)]);
  const before = await of(monday!);
  expect(before).toHaveLength(3);
  for (const dataset of ['stock-trades', 'option-trades'] as const)
    await ingest(store, dataset, [file(dataset, tuesdays)]);
  expect(await of(monday!)).toEqual(before);
  expect(await of(tuesday!)).toHaveLength(3);
});

describe.skipIf(!hasSharedData)('vendor files with the evening before their day (passed over without them)', () => {
  const given = (name: string) => sharedData(`ingest_inputs/${name}`);

  test.each([
    ['in order', ['gth-trade-date-1.csv', 'gth-trade-date-2.csv']],
    ['the other way round', ['gth-trade-date-2.csv', 'gth-trade-date-1.csv']],
  ])('overnight prints of index options count in their session, %s', async (_, order) => {
    const store = await storeForThisTest();
    await ingest(store, 'option-trades', order.map(given));
    const { rows } = await store.pool.query(
      'SELECT session_date AS date, sum(total_size)::int AS size FROM flow_events GROUP BY 1 ORDER BY 1',
    );
    const { rows: sessions } = await store.pool.query('SELECT session_date AS date FROM cross_sections ORDER BY 1');
    expect(sessions.map(({ date }) => date)).toEqual(['2024-12-11', '2024-12-12']);
    expect(rows.map(({ date }) => date)).toEqual(['2024-12-11', '2024-12-12']);
  });

  test.each([
    ['gth-trade-date-1.csv', '2024-12-11'],
    ['gth-trade-date-2.csv', '2024-12-12'],
  ])('%s holds 12,010 contracts of one session', async (name, session) => {
    const app = await testApp({ nowMs });
    try {
      await ingest(app.store, 'option-trades', ['gth-trade-date-1.csv', 'gth-trade-date-2.csv'].map(given));
      const { body } = await app.get(`/v2/flow/SPX/cross-section?session=${session}`);
      const [{ measures }] = body.data.snapshot.update.by_expiration;
      expect([name, measures.call_volume + measures.put_volume]).toEqual([name, 12_010]);
    } finally {
      await app.close();
    }
  });
});
