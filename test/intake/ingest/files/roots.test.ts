// Properties of option roots come from one place: the dataset, else what is known, else the class of the underlying.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { optionRoots, type RootEntry, standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import type { SymbolEntry } from '../../../../src/core/domain/market/symbol.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { starterRegistryFile } from '../../../../src/intake/ingest/files/lists/starter-registry.ts';
import { type FileReport, ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { recompute } from '../../../../src/intake/ingest/recompute/recompute.ts';
import { latestGexCaptures } from '../../../../src/store/gex/captures.ts';
import { symbolRegistry } from '../../../../src/store/market/symbols.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { type Json, type TestApp, testApp, testSymbols } from '../../../support/app.ts';
import { storeForThisTest, type TestStore } from '../../../support/store.ts';
import { delayedPage } from '../../../support/tapes/delayed-page.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const session = '2026-11-20';
const [atTen, december] = ['November 20, 2026 at 10:15 AM EST', '2026-12-18'];
const nowMs = exchangeInstant(session, 12 * 60);
const now = () => nowMs;
const folder = temporaryFolder();
// From 10:00 to the close of the expiry, in years.
const years = (28 * 1440 + 6 * 60) / (365 * 1440);

type Dataset = Parameters<typeof ingestFiles>[1];

async function ingest(store: TestStore, dataset: Dataset, text: string, settings = {}): Promise<FileReport> {
  const path = join(folder(), `${dataset}.csv`);
  writeFileSync(path, text);
  const { files } = await ingestFiles(store, dataset, [path], { now, ...settings });
  return files[0]!;
}

const rootLines = (...lines: string[]) =>
  `${['root,underlying,style,settlement,multiplier,deliverable,on_forwards,from,to', ...lines].join('\n')}\n`;

/** A page whose calls and puts are worth what Black says, with as many open of each. */
const balancedPage = (root: string, forward: number) =>
  delayedPage({
    date: atTen,
    root,
    forward,
    expiries: { [december]: years },
    strikes: Array.from({ length: 17 }, (_, i) => forward - 40 + 5 * i),
    volatility: 0.2,
    interest: { call: 50, put: 50 },
  });

const netGexOf = async (store: TestStore, symbol: string) =>
  (await latestGexCaptures(store, [symbol], nowMs, { byExpiry: false })).get(symbol)!;

describe('without a row of the dataset', () => {
  test('every index of the starter registry is European but OEX', async () => {
    const store = await storeForThisTest();
    await ingestFiles(store, 'symbols', [starterRegistryFile], { now });
    const registry = await symbolRegistry(store);
    const indices = registry.registered().filter((entry) => entry.class === 'index');
    expect(indices.map(({ symbol }) => symbol)).toContain('MRUT');
    const american = indices.filter(({ symbol }) => registry.roots.of(symbol).style === 'american');
    expect(american.map(({ symbol }) => symbol)).toEqual(['OEX']);
    expect(registry.roots.of('SPY')).toMatchObject({ style: 'american', settlement: 'pm', multiplier: 100 });
  });

  test('an index that nobody knows is European by its class and settles at the close', () => {
    const known = optionRoots({ entries: [], indices: ['ACME'] });
    expect(known.of('ACME')).toMatchObject({ style: 'european', settlement: 'pm', followsSpot: true });
    expect(standardRoots.of('ACME').style).toBe('american');
    expect(known.of('ACME1')).toMatchObject({ style: 'european', adjusted: true, sharesPerContract: null });
  });

  test.each(['MRUT', 'SPXW', 'ACME'])('calls and puts of %s with equal interest cancel: net 0', async (root) => {
    const store = await storeForThisTest();
    const symbols = 'symbol,name,class\nMRUT,Mini-Russell,index\nSPX,S&P 500,index\nACME,Acme,index\n';
    await ingest(store, 'symbols', symbols);
    expect((await ingest(store, 'chain', balancedPage(root, 250), { rate: 0.04 })).status).toBe('stored');
    const { netGex, strikes } = await netGexOf(store, root === 'SPXW' ? 'SPX' : root);
    expect(strikes.strike.length).toBe(17);
    expect(Math.abs(netGex)).toBeLessThan(1);
  });
});

test('a row of the dataset holds in its sessions, the newest where none is asked for', () => {
  const row = (from: string | null, to: string | null, multiplier: number): RootEntry => ({
    root: 'MINI',
    underlying: 'ACME',
    style: 'european',
    settlement: 'am',
    multiplier,
    deliverable: 'standard',
    onForwards: false,
    from,
    to,
  });
  const roots = optionRoots({
    entries: [row(null, '2020-12-31', 10), row('2021-01-01', '2024-12-31', 50), row('2025-01-01', null, 20)],
    indices: [],
  });
  const on = (date?: string) => roots.of('MINI', date).multiplier;
  expect([on('2019-05-01'), on('2020-12-31'), on('2021-01-01'), on('2026-01-02'), on()]).toEqual([10, 10, 50, 20, 20]);
});

test('bad lines are refused with what is wrong with them', async () => {
  const store = await storeForThisTest();
  const { status, badLines } = await ingest(
    store,
    'roots',
    rootLines(
      'TOOLONG,SPX,european,pm,,,,,',
      'ABC,sp!x,european,pm,,,,,',
      'ABC,ABC,bermudan,pm,,,,,',
      'ABC,ABC,european,noon,,,,,',
      'ABC,ABC,european,pm,0,,,,',
      'ABC,ABC,european,pm,1.5,,,,',
      'ABC,ABC,european,pm,,odd,,,',
      'ABC,ABC,european,pm,,,maybe,,',
      'ABC,ABC,european,pm,,,,2026-02-30,',
      'ABC,ABC,european,pm,,,,2026-02-03,2026-02-02',
      'ABC,ABC,european,pm,100,,,,',
      'ABC,ABC,european,pm,100,,,,',
      'ABC,ABC,american,pm,100,,,,',
    ),
  );
  expect(status).toBe('refused');
  expect(badLines.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
    '2 root: expected an OSI root such as SPXW, got "TOOLONG"',
    '3 underlying: expected a ticker such as SPY or BRK.B, got "sp!x"',
    '4 style: expected european or american, got "bermudan"',
    '5 settlement: expected am or pm, got "noon"',
    '6 multiplier: expected a whole number from 1 to 1000000, got "0"',
    '7 multiplier: expected a whole number from 1 to 1000000, got "1.5"',
    '8 deliverable: expected standard or adjusted, got "odd"',
    '9 on_forwards: expected true or false, got "maybe"',
    '10 from: expected a date YYYY-MM-DD, got "2026-02-30"',
    '11 to: 2026-02-02 is before from, 2026-02-03',
    '14 ABC: line 12 says something else',
  ]);
});

test('what is exported is ingested as it is, and a file that is in force is unchanged until another replaces it', async () => {
  const store = await storeForThisTest();
  const [first, second] = [rootLines('MINI,ACME,european,pm,10,,,,'), rootLines('MINI,ACME,european,pm,20,,,,')];
  expect(await ingest(store, 'roots', first)).toMatchObject({ status: 'stored', rows: 1, changed: 1 });
  expect(await ingest(store, 'roots', first)).toMatchObject({ status: 'unchanged' });
  expect(await ingest(store, 'roots', second)).toMatchObject({ status: 'stored', changed: 1 });
  expect(await ingest(store, 'roots', first)).toMatchObject({ status: 'stored', changed: 1 });
  const { stdout } = await tapegraph(['export', 'roots'], { DATABASE_URL: store.databaseUrl }, { now });
  expect(stdout).toContain('MINI,ACME,european,pm,10,standard,false,,');
  expect(stdout).toContain('SPX,SPX,european,am,100,standard,false,,');
  const other = await storeForThisTest();
  const { status, rows } = await ingest(other, 'roots', stdout);
  expect({ status, rows }).toEqual({ status: 'stored', rows: stdout.trim().split('\n').length - 1 });
  const again = await tapegraph(['export', 'roots'], { DATABASE_URL: other.databaseUrl }, { now });
  expect(again.stdout).toBe(stdout);
});

const acme: SymbolEntry = { ...testSymbols.find(({ symbol }) => symbol === 'XSP')!, symbol: 'ACME', name: 'Acme' };

describe('every endpoint asks the dataset', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs, symbols: [...testSymbols, { ...acme, requiresAttestation: false }] });
  });
  afterAll(() => app?.close());

  const contract = 'O:MINI261218C00250000';
  const terms = async () =>
    (await app.graphql(`{ contract(id: "${contract}") { underlying { symbol } style settlement multiplier } }`)).data
      ?.contract as Json;

  test('a contract of an unknown root is found once its root is stored, without a restart', async () => {
    expect((await app.get(`/v2/options/${contract}/greeks`)).status).toBe(404);
    expect(await terms()).toBeFalsy();
    await ingest(app.store, 'roots', rootLines('MINI,ACME,european,am,10,standard,false,,'));
    expect(await terms()).toEqual({
      underlying: { symbol: 'ACME' },
      style: 'european',
      settlement: 'am',
      multiplier: 10,
    });
    expect((await app.get(`/v2/options/${contract}/greeks`)).status).toBe(200);
    await ingest(app.store, 'roots', rootLines('MINI,ACME,american,pm,10,standard,false,,'));
    expect(await terms()).toMatchObject({ style: 'american', settlement: 'pm' });
    await ingest(app.store, 'roots', rootLines('MINI,ACME,european,pm,10,standard,false,,'));
  });

  test('chains show its shares per contract, and exposures use them', async () => {
    const page = (root: string) =>
      delayedPage({
        date: atTen,
        root,
        forward: 250,
        expiries: { [december]: years },
        strikes: [230, 240, 245, 250, 255, 260, 270],
        volatility: 0.2,
      });
    await ingest(app.store, 'chain', page('ACME'), { rate: 0 });
    const full = await netGexOf(app.store, 'ACME');
    // Pages of one instant without a contract in common are joined.
    await app.store.pool.query('DELETE FROM chain_captures');
    await ingest(app.store, 'chain', page('MINI'), { rate: 0 });
    const mini = await netGexOf(app.store, 'ACME');
    expect(mini.netGex / full.netGex).toBeCloseTo(0.1, 9);
    const { body } = await app.get('/v2/chain/ACME');
    expect(new Set(body.data.rows.map((row: Json) => row.shares_per_contract))).toEqual(new Set([10]));
    expect((await app.get('/v2/gex/ACME/grid')).body.data.net_gex).toBe(mini.netGex);
  });

  test('stored captures are computed again with the terms of now, and the report says how', async () => {
    const before = (await netGexOf(app.store, 'ACME')).netGex;
    const { outdated } = await ingest(app.store, 'roots', rootLines('MINI,ACME,european,pm,30,standard,false,,'));
    expect(outdated).toMatchObject([
      { symbol: 'ACME', captures: 1, command: 'tapegraph recompute chain --symbol ACME' },
    ]);
    expect((await netGexOf(app.store, 'ACME')).netGex).toBe(before);
    const all = { symbol: 'ACME', from: null, to: null };
    expect(await recompute(app.store, 'chain', all, { now: Date.now, rate: 0 })).toMatchObject([
      { status: 'recomputed' },
    ]);
    expect(await recompute(app.store, 'chain', all, { now: Date.now, rate: 0 })).toEqual([]);
    expect(await recompute(app.store, 'chain', all, { now: Date.now, rate: 0, all: true })).toMatchObject([
      { status: 'unchanged' },
    ]);
    expect((await netGexOf(app.store, 'ACME')).netGex / before).toBeCloseTo(3, 9);
  });

  test('an adjusted deliverable has the shares that a row states, and no exposure', async () => {
    await ingest(app.store, 'roots', rootLines('MINI,ACME,european,pm,37,adjusted,false,,'));
    const { notes } = await ingest(app.store, 'chain', balancedPage('MINI', 250), { rate: 0 });
    expect(notes.join()).toContain('no GEX capture');
    const { body } = await app.get('/v2/chain/ACME');
    expect(new Set(body.data.rows.map((row: Json) => row.shares_per_contract))).toEqual(new Set([37]));
  });

  test('premiums of a tape and of a live line are of its multiplier', async () => {
    await ingest(app.store, 'roots', rootLines('MINI,ACME,european,pm,10,,,,', 'MINX,XOM,american,pm,25,,,,'));
    const stamp = (second: number) => `${exchangeInstant(session, 10 * 60) + second * 1000}000000`;
    const header = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
    await ingest(app.store, 'option-trades', `${header}\n${contract},209,0,302,20,${stamp(1)},1000\n`);
    const premiums = async (symbol: string) =>
      (await app.get(`/v2/flow/large-trades?symbol=${symbol}`)).body.data.events.map(
        ({ update }: Json) => update.event.premium_usd,
      );
    expect(await premiums('ACME')).toEqual([20 * 1000 * 10]);

    const print = {
      type: 'option_print',
      contract: 'O:MINX261218C00255000',
      exchange: 302,
      price: 15,
      size: 2000,
      conditions: [209],
      sequence_number: 1,
      sip_timestamp: stamp(2),
    };
    const env = { DATABASE_URL: app.store.databaseUrl };
    const { code } = await tapegraph(['follow', '--source', 'roots'], env, {
      now,
      input: `${JSON.stringify(print)}\n`,
    });
    expect(code).toBe(0);
    expect(await premiums('XOM')).toEqual([15 * 2000 * 25]);
  });
});
