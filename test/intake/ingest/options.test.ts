import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OptionContract, readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { standardRoots } from '../../../src/core/domain/chain/option-root.ts';
import { barAt } from '../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { chainCapturesAt, expirationsAt } from '../../../src/store/chain/chain-captures.ts';
import { latestOpenInterest } from '../../../src/store/chain/open-interest.ts';
import { type OptionTimeframe, readOptionBars } from '../../../src/store/chain/option-bars.ts';
import { latestGexCaptures } from '../../../src/store/gex/captures.ts';
import { symbolRegistry } from '../../../src/store/market/symbols.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { storeForThisTest, type TestStore, testStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const now = () => 1_800_000_000_000;
const folder = temporaryFolder();
const contract = (text: string) => readOptionContract(text) as OptionContract;

async function bars(store: TestStore, name: string, session: string, timeframe: OptionTimeframe) {
  const listed = { underlying: standardRoots.of(contract(name).root).underlying, contract: contract(name) };
  const { bars: columns, status } = await readOptionBars(store, listed, session, timeframe);
  return { status, bars: Array.from(columns.tsMs, (_, i) => barAt(columns, i)) };
}

describe.skipIf(!hasSharedData)('real option files of AAPL', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await testStore();
    const minutes = await ingestFiles(store, 'option-minute-bars', [sharedData('options_minute_aggs/AAPL/*.gz')], {
      now,
    });
    expect(minutes.files.map((file) => [file.status, file.rows])).toEqual([
      ['stored', 22_067],
      ['stored', 21_617],
    ]);
    const interest = await ingestFiles(store, 'open-interest', [sharedData('options_open_interest/AAPL/*.gz')], {
      now,
    });
    expect(interest.files.map((file) => [file.status, file.rows])).toEqual([
      ['stored', 2322],
      ['stored', 2337],
    ]);
  });
  afterAll(() => store.close());

  test('minute bars of a contract are those of its lines, and 5m bars hold the same volume', async () => {
    const minute = await bars(store, 'O:AAPL140606C00650000', '2014-06-06', '1m');
    expect(minute.status).toBe('eod_reconciled');
    expect(minute.bars).toHaveLength(385);
    const five = await bars(store, 'O:AAPL140606C00650000', '2014-06-06', '5m');
    const volume = (list: { volume: number }[]) => list.reduce((sum, bar) => sum + bar.volume, 0);
    expect(volume(five.bars)).toBe(volume(minute.bars));
    expect(five.bars.length).toBeLessThanOrEqual(78);
    expect(five.bars[0]!.tsMs).toBe(exchangeInstant('2014-06-06', 570));
    expect((await bars(store, 'O:AAPL140606C00650000', '2014-06-09', '1m')).bars).toEqual([]);
  });

  test('open interest of every listed contract is kept by the session of the file name', async () => {
    for (const [through, sessionDate, contracts] of [
      ['2014-06-08', '2014-06-06', 2322],
      ['2014-06-09', '2014-06-09', 2337],
    ] as const) {
      const [published] = await latestOpenInterest(store, ['AAPL'], through);
      expect([published!.sessionDate, published!.byContract.size]).toEqual([sessionDate, contracts]);
    }
    const moments = [{ underlying: 'AAPL', atMs: exchangeInstant('2014-06-08') }];
    const [listed] = await expirationsAt(store, moments);
    expect(listed!.capturedAt).toBe(exchangeInstant('2014-06-06'));
    expect(listed!.expirations[0]).toBe('2014-06-06');
    expect(listed!.expirations.at(-1)).toBe('2016-01-15');
  });

  test('the underlying is in the ticker directory, and a second run changes nothing', async () => {
    expect((await symbolRegistry(store)).get('AAPL')).toMatchObject({ registered: false, class: 'equity' });
    for (const [dataset, files] of [
      ['option-minute-bars', 'options_minute_aggs/AAPL/*.gz'],
      ['open-interest', 'options_open_interest/AAPL/*.gz'],
    ] as const) {
      const again = await ingestFiles(store, dataset, [sharedData(files)], { now });
      expect(again.files.map((file) => file.status)).toEqual(['unchanged', 'unchanged']);
    }
    cpSync(sharedData('options_open_interest/AAPL/2014-06-06.csv.gz'), join(folder(), 'oi-20140606.csv.gz'));
    const renamed = await ingestFiles(store, 'open-interest', [join(folder(), 'oi-20140606.csv.gz')], { now });
    expect(renamed.files[0]!.status).toBe('unchanged');
  });
});

describe('open interest files', () => {
  const write = (name: string, lines: string[]) => {
    const path = join(folder(), name);
    writeFileSync(path, lines.join('\n'));
    return path;
  };

  test('that do not say their session are refused, unless it is given', async () => {
    const store = await storeForThisTest();
    const path = write('listed.csv', ['ticker,open_interest', 'O:SPXW240315C05000000,7']);
    const refused = await ingestFiles(store, 'open-interest', [path], { now });
    expect(refused.files[0]).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('session is unknown'),
    });
    await ingestFiles(store, 'open-interest', [path], { now, sessionDate: '2024-03-08' });
    const [published] = await latestOpenInterest(store, ['SPX'], '2024-03-08');
    expect([...published!.byContract]).toEqual([['SPXW240315C05000000', 7]]);
    expect((await symbolRegistry(store)).get('SPX')).toMatchObject({ class: 'index', instrumentType: 'index' });
  });
});

describe.skipIf(!hasSharedData)('real chains', () => {
  const spx = () => sharedData('chains_cboe/spx_20240107.csv.gz');
  const later = [{ underlying: 'SPX', atMs: exchangeInstant('2024-01-08') }];

  test('with vendor gammas total −11.00 Bn per 1%, and stand in the session before the Sunday', async () => {
    const store = await storeForThisTest();
    const { files } = await ingestFiles(store, 'chain', [spx()], { now, gammaSource: 'vendor' });
    expect(files[0]).toMatchObject({ status: 'stored', rows: 21_038, changed: 2, badLineCount: 0 });
    expect(files[0]!.notes).toEqual([
      "net GEX in dollars per $1: -234.2m by the vendor's gammas, which are printed with 4 decimals",
    ]);
    const gex = (await latestGexCaptures(store, ['SPX'], later[0]!.atMs, { byExpiry: false })).get('SPX')!;
    expect(gex).toMatchObject({ sessionDate: '2024-01-05', gammaSource: 'vendor', spot: 4697.2402 });
    expect((gex.netGex * 0.01 * 4697.2402) / 1e9).toBeCloseTo(-11.0, 1);
    const [listed] = await expirationsAt(store, later);
    expect(listed!.expirations).toContain('2029-12-21');
    expect(listed!.capturedAt).toBe(exchangeInstant('2024-01-07', 10 * 60 + 52));
  });

  test('with solved gammas keep the vendor greeks in the chain, and what was solved beside them', async () => {
    const store = await storeForThisTest();
    const { files } = await ingestFiles(store, 'chain', [spx()], { now });
    // The vendor's net lies above the solved one, as rounding to four decimals moves it.
    expect(files[0]!.notes).toEqual([
      expect.stringMatching(
        /^net GEX .* solved, -23\d\.\dm by the vendor's gammas, which are printed with 4 decimals: rounding alone moves the net by \+8\.\dm$/,
      ),
    ]);
    const [chain] = await chainCapturesAt(store, later);
    const call = chain!.rows.find(
      (row) => row.root === 'SPXW' && row.expiry === '2024-01-31' && row.right === 'call' && row.strike === 4_700_000,
    )!;
    expect(call).toMatchObject({ sharesPerContract: 100 });
    expect(String(call.gamma).length).toBeLessThanOrEqual(6);
    expect(call).toMatchObject({ theta: null, vega: null, solved: { origin: 'outOfTheMoney' } });
    expect(Math.abs(call.solved!.gamma! / call.gamma! - 1)).toBeLessThan(0.05);
    expect(call.solved!.theta).toBeLessThan(0);
    expect(call.solved!.vega).toBeGreaterThan(1);
    const again = await ingestFiles(store, 'chain', [spx()], { now });
    expect(again.files[0]!.status).toBe('unchanged');
    const vendor = await ingestFiles(store, 'chain', [spx()], { now, gammaSource: 'vendor' });
    expect(vendor.files[0]!.status).toBe('stored');
  });

  test('as JSON are captured whole', async () => {
    const store = await storeForThisTest();
    const { files } = await ingestFiles(store, 'chain', [sharedData('chains_cboe/*.json.gz')], {
      now,
      gammaSource: 'vendor',
    });
    expect(files[0]).toMatchObject({ status: 'stored', rows: 6680 });
    const gex = await latestGexCaptures(store, ['RUT'], 2e12, { byExpiry: true });
    expect(gex.get('RUT')).toMatchObject({ sessionDate: '2023-09-20', priorCloseSpot: 1827 });
  });
});
