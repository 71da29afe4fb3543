// Captures say what they were computed from.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { methodologyVersion } from '../../../../src/core/analytics/methodology.ts';
import { yearsUntil } from '../../../../src/core/analytics/pricing/chain-groups.ts';
import { baseNameOf } from '../../../../src/core/domain/chain/capture-inputs.ts';
import { lastInstant } from '../../../../src/core/domain/chain/option-root.ts';
import { billOn } from '../../../../src/core/domain/market/rates.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../../src/intake/ingest/chains/chain.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { recompute } from '../../../../src/intake/ingest/recompute/recompute.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';
import { productVersion } from '../../../../src/platform/runtime/product-version.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { tapegraph } from '../../../cli/command-line.ts';
import { pricedChain } from '../../../core/analytics/priced-chain.ts';
import { type Json, type TestApp, testApp } from '../../../support/app.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { delayedPage } from '../../../support/tapes/delayed-page.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const december = '2026-12-18';
const capturedAt = exchangeInstant('2026-11-16', 600);
const sourceTime = capturedAt - 15 * minuteMs;
const nowMs = exchangeInstant('2026-11-17', 60);
const page = delayedPage({
  date: 'November 16, 2026 at 10:00 AM EST',
  root: 'SPXW',
  forward: 6000,
  expiries: { [december]: yearsUntil(lastInstant(december, 'pm'), sourceTime) },
  strikes: Array.from({ length: 21 }, (_, i) => 5900 + 10 * i),
  volatility: 0.2,
});
const sha256 = createHash('sha256').update(page).digest('hex');
const temporary = temporaryFolder();
let app: TestApp;
let note: string;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const path = join(temporary(), 'spx quotes.csv');
  writeFileSync(path, page);
  const { files } = await ingestFiles(app.store, 'chain', [path], { now: () => nowMs, rate: 0.03 });
  expect(files[0]).toMatchObject({ status: 'stored' });
  note = files[0]!.notes[0]!;
});
afterAll(() => app.close());

/** In force without a curve; the setting of the import comes after it. */
const bill = billOn('2026-11-16')!;

const inputs = `inputs { sourceTime delayMs methodologyVersion productVersion files { name sha256 }
  expiries { expiry root years rate forward dividendYield dividend { amount exDate source } } }`;

async function latest(of: TestApp, fields: string, credential?: string): Promise<Json> {
  const sending = credential === undefined ? {} : { credential };
  const { data, errors } = await of.graphql(`{ symbol(symbol: "SPX") { gex { latest { ${fields} } } } }`, {}, sending);
  expect(errors).toBeUndefined();
  return data.symbol.gex.latest;
}

describe('a capture of a file', () => {
  test('says its times, versions and file, and what each root and expiry is priced with', async () => {
    const { expiries, ...rest } = (await latest(app, inputs)).inputs;
    expect(rest).toEqual({
      sourceTime,
      delayMs: 15 * minuteMs,
      methodologyVersion,
      productVersion,
      files: [{ name: 'spx quotes.csv', sha256 }],
    });
    expect(expiries).toHaveLength(1);
    const [{ forward, dividendYield, years, ...known }] = expiries;
    expect(known).toEqual({ expiry: december, root: 'SPXW', rate: bill.rate, dividend: null });
    expect(years).toBe(yearsUntil(lastInstant(december, 'pm'), sourceTime));
    expect(forward).toBeGreaterThan(5990);
    expect(Number.isFinite(dividendYield)).toBe(true);
  });

  test('says how many decimals the vendor prints gammas with, and ingest by how much that moves its net', async () => {
    expect((await latest(app, 'gammaDecimals')).gammaDecimals).toBe(2);
    expect(note).toMatch(/gammas, which are printed with 2 decimals: rounding alone moves the net by [+-]\d+\.\dm$/);
  });

  test('is exported with them, and with the version of its definitions', async () => {
    const exported = async (dataset: string) => {
      const args = ['export', dataset, '--symbol', 'SPX', '--format', 'ndjson'];
      const { stdout } = await tapegraph(args, { DATABASE_URL: app.store.databaseUrl });
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const { expiries } = (await latest(app, inputs)).inputs;
    expect(await exported('gex-inputs')).toEqual([
      {
        symbol: 'SPX',
        captured_at: capturedAt,
        session_date: '2026-11-16',
        source_time: sourceTime,
        delay_ms: 15 * minuteMs,
        methodology_version: methodologyVersion,
        product_version: productVersion,
        file: 'spx quotes.csv',
        file_sha256: sha256,
        gamma_source: 'solve',
        gamma_decimals: 2,
        expiry: december,
        root: 'SPXW',
        years: expiries[0].years,
        rate: bill.rate,
        forward: expiries[0].forward,
        dividend_yield: expiries[0].dividendYield,
        dividend: null,
        dividend_ex_date: null,
        dividend_source: null,
      },
    ]);
    for (const dataset of ['gex', 'chain'])
      for (const row of await exported(dataset)) expect(row.methodology_version).toBe(methodologyVersion);
  });

  test('keeps its file when it is recomputed, and when the same content comes under another name', async () => {
    const path = join(temporary(), 'again.csv');
    writeFileSync(path, page);
    const options = { now: () => nowMs, rate: 0.03, force: true };
    expect((await ingestFiles(app.store, 'chain', [path], options)).files[0]!.status).toBe('unchanged');
    await app.store.pool.query('UPDATE gex_captures SET inputs = NULL, product_version = NULL, version = $1', ['old']);
    // Answers are cached for a second.
    app.clock.nowMs += 2000;
    expect((await latest(app, inputs)).inputs).toBeNull();
    const every = { symbol: null, from: null, to: null };
    await recompute(app.store, 'chain', every, { now: () => nowMs, rate: 0, all: true });
    const { files, productVersion: version } = (await latest(app, inputs)).inputs;
    expect(files).toEqual([{ name: 'spx quotes.csv', sha256 }]);
    expect(version).toBe(productVersion);
  });
});

test('PROVENANCE says who sees names of files; hashes are always shown', async () => {
  const store = await storeForThisTest();
  const path = join(temporary(), 'spx.csv');
  const text = page.replaceAll('SPXW', 'SPY');
  writeFileSync(path, text);
  await ingestFiles(store, 'chain', [path], { now: () => nowMs });
  const hash = createHash('sha256').update(text).digest('hex');
  for (const [provenance, seen] of [
    ['public', [true, true]],
    ['account', [true, false]],
    ['off', [false, false]],
  ] as const) {
    const of = await testApp({ nowMs, store, env: { PROVENANCE: provenance } });
    onTestFinished(() => of.close());
    for (const [i, classification] of (['non_professional', 'professional'] as const).entries()) {
      const credential = await of.key({ classification });
      const { data } = await of.graphql(
        '{ symbol(symbol: "SPY") { gex { latest { inputs { files { name sha256 } } } } } }',
        {},
        { credential },
      );
      expect(data.symbol.gex.latest.inputs.files).toEqual([{ name: seen[i] ? 'spx.csv' : null, sha256: hash }]);
    }
  }
});

test('a chain without a file has none', async () => {
  const of = await testApp({ nowMs: exchangeInstant('2025-06-05') });
  onTestFinished(() => of.close());
  const chain = pricedChain('SPXW', ['2025-06-20'], [590, 595, 600, 605, 610]);
  await inTransaction(of.store, (tx) => storeChain(tx, chain, { gammaSource: 'solve', rate: 0.045 }));
  expect((await latest(of, 'inputs { files { name } expiries { root } }')).inputs).toEqual({
    files: [],
    expiries: [{ root: 'SPXW' }],
  });
});

test.each([
  ['/data/in/spx.csv.gz', 'spx.csv.gz'],
  ['https://host.example/quotes/_SPX.json?key=secret&x=/a', '_SPX.json'],
  ['s3://bucket/day/spx.csv#part', 'spx.csv'],
  ['what? a #name.csv', 'what? a #name.csv'],
])('the base name of %s is %s', (address, name) => {
  expect(baseNameOf(address)).toBe(name);
});
