import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { readBars } from '../../../../src/store/market/bar-blocks.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-16';
const folder = temporaryFolder();
const now = () => exchangeInstant('2026-11-17', 60);
const at = (minute: number) => exchangeInstant(session, minute);

/** Minute, price, shares and conditions: 11 % of the shares are of extended hours. */
const prints: readonly [minute: number, price: number, size: number, conditions: number[]][] = [
  [300, 598, 40, [12]],
  [570, 600, 400, []],
  [959, 601, 490, []],
  [1000, 603, 70, [12]],
];

function tapeFile(): string {
  const path = join(folder(), 'tape.csv');
  const lines = prints.map(([minute, price, size, conditions], i) =>
    [
      'SPY',
      conditions.join(),
      0,
      11,
      i + 1,
      `${at(minute)}000000`,
      price,
      i + 1,
      `${at(minute)}000000`,
      size,
      2,
      '',
      '',
    ].join(),
  );
  const header =
    'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp';
  writeFileSync(path, `${[header, ...lines].join('\n')}\n`);
  return path;
}

const ingest = async (store: TestStore, extendedBars: boolean) =>
  (await ingestFiles(store, 'stock-trades', [tapeFile()], { now, extendedBars })).files[0]!;
async function barsOf(store: TestStore, timeframe: '1s' | '1m' | '5m' | '1h' | '1d') {
  const range = { fromMs: 0, toMs: now(), limit: Infinity };
  const { bars } = (await readBars(store, ['SPY'], timeframe, range)).get('SPY')!;
  return Array.from(bars.tsMs, (tsMs, i) => [(tsMs - at(0)) / 60_000, bars.close[i], bars.volume[i]]);
}
const whole = [
  [300, 598, 40],
  [570, 600, 400],
  [959, 601, 490],
  [1000, 603, 70],
];

describe('a stock tape with prints of extended hours', () => {
  test('says how much of the day its minutes hold; with the setting it is stored again, and they hold all', async () => {
    const store = await storeForThisTest();
    const report = await ingest(store, false);
    expect(report.notes).toEqual([
      'minute bars hold 89% of the shares of the day bars: extended hours have no bars without EXTENDED_BARS',
    ]);
    expect(await barsOf(store, '1m')).toEqual(whole.slice(1, 3));
    const day = await barsOf(store, '1d');
    expect(day).toEqual([[0, 601, 1000]]);
    expect(await ingest(store, true)).toMatchObject({ status: 'stored', notes: [] });
    for (const timeframe of ['1s', '1m'] as const) expect(await barsOf(store, timeframe)).toEqual(whole);
    expect(await barsOf(store, '1h')).toEqual([
      [300, 598, 40],
      [540, 600, 400],
      [900, 601, 490],
      [960, 603, 70],
    ]);
    expect(await barsOf(store, '1d')).toEqual(day);
    expect((await ingest(store, true)).status).toBe('unchanged');
  });

  test('gives the same bars when it is followed', async () => {
    const store = await storeForThisTest();
    const lines = prints.map(([minute, price, size, conditions], i) =>
      JSON.stringify({
        type: 'stock_print',
        symbol: 'SPY',
        exchange: 11,
        id: String(i + 1),
        sequence_number: i + 1,
        conditions,
        price,
        size,
        sip_timestamp: `${at(minute)}000000`,
      }),
    );
    await follow(store, Readable.from([Buffer.from(`${lines.join('\n')}\n`)]), {
      source: 'stdin',
      fromStart: true,
      everyMs: 0,
      now,
      stop: new AbortController().signal,
      gammaSource: 'solve',
      rate: 0.045,
      onBadLine: () => {},
      extendedBars: true,
    });
    expect(await barsOf(store, '1m')).toEqual(whole);
    expect(await barsOf(store, '1d')).toEqual([[0, 601, 1000]]);
    expect(await store.prisma.liveQuote.findMany({ select: { spot: true } })).toEqual([{ spot: 601 }]);
  });

  test('goes by EXTENDED_BARS on the command line', async () => {
    const store = await storeForThisTest();
    const args = ['ingest', 'stock-trades', tapeFile(), '--json'];
    const { code, stdout } = await tapegraph(args, { DATABASE_URL: store.databaseUrl, EXTENDED_BARS: 'true' });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).files[0].notes.join()).not.toContain('minute bars hold');
    expect(await barsOf(store, '1m')).toEqual(whole);
    const wrong = await tapegraph(args, { DATABASE_URL: store.databaseUrl, EXTENDED_BARS: 'yes' });
    expect(wrong.stderr).toContain('EXTENDED_BARS: expected true or false, got "yes"');
  });
});
