import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { contentsOf } from '../../../support/store-contents.ts';
import { dbnFile, dbnSchemas, dbnTrade } from '../../../support/tapes/dbn-encoder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = '2026-11-16';
const [open, close] = [exchangeInstant(session, 570), exchangeInstant(session, 960)];
const now = () => exchangeInstant(session, 1200);
const contract = 'SPY261218C00600000';

/** Prints of a contract: small ones, a large one, a sweep over two exchanges, and one before the close. */
const prints = [
  ...Array.from({ length: 40 }, (_, i) => ({ ms: i * 61_007, cents: 120 + i, size: 3 + i, exchange: 302 })),
  { ms: 3_000_000, cents: 500, size: 3000, exchange: 302 },
  { ms: 3_100_000, cents: 125, size: 900, exchange: 302 },
  { ms: 3_100_060, cents: 127, size: 850, exchange: 316 },
  { ms: close - open - 60_000, cents: 130, size: 1, exchange: 302 },
].map(({ ms, ...print }) => ({ tsMs: open + ms, ...print }));

const csv = (condition: string) =>
  [
    'ticker,conditions,exchange,price,sip_timestamp,size',
    ...prints.map((p) => `O:${contract},${condition},${p.exchange},${p.cents / 100},${p.tsMs}000000,${p.size}`),
  ].join('\n');

const thetaExchange = { 302: 5, 316: 1 } as Readonly<Record<number, number>>;
const publishers = { 302: 22, 316: 32 } as Readonly<Record<number, number>>;

/** A time of the day in New York, which is five hours behind UTC in November. */
const clockTime = (tsMs: number) => new Date(tsMs - 5 * 3_600_000).toISOString().slice(0, -1);

const files = {
  massive: () => {
    const results = prints.map((p) => ({
      conditions: [209],
      exchange: p.exchange,
      price: p.cents / 100,
      sequence_number: 1,
      size: p.size,
      sip_timestamp: `${p.tsMs}000000`,
    }));
    return JSON.stringify({ results, status: 'OK' }).replace(/"(\d{19})"/g, '$1');
  },
  theta: () =>
    [
      'symbol,expiration,strike,right,timestamp,sequence,condition,size,exchange,price',
      ...prints.map(
        (p, i) =>
          `SPY,2026-12-18,600.000,CALL,${clockTime(p.tsMs)},${i},18,${p.size},${thetaExchange[p.exchange]},${p.cents / 100}`,
      ),
    ].join('\n'),
  databento: () =>
    dbnFile({
      schema: dbnSchemas.trades,
      mappings: [{ symbol: 'SPY   261218C00600000', spans: [{ from: 20261116, to: 20261117, instrument: 7 }] }],
      records: prints.map((p, i) =>
        dbnTrade({
          at: BigInt(p.tsMs) * 1_000_000n,
          publisher: publishers[p.exchange]!,
          size: p.size,
          sequence: i,
          price: p.cents / 100,
        }),
      ),
    }),
};

/** Everything that a file's prints become, but for the names and hashes of files. */
async function storedOf(name: string, content: string | Uint8Array) {
  const store = await storeForThisTest();
  const path = join(folder(), name);
  writeFileSync(path, content);
  const { files: reports } = await ingestFiles(store, 'option-trades', [path], { now });
  expect(reports[0]).toMatchObject({ status: 'stored', rows: prints.length, badLineCount: 0 });
  const again = await ingestFiles(store, 'option-trades', [path], { now });
  expect(again.files[0]!.status).toBe('unchanged');
  return contentsOf(store, { tables: ['ingested_files'] });
}

test.each([
  ['massive', '209'],
  ['theta', '209'],
  ['databento', ''],
] as const)('the prints of a session in a file of %s become what they become as CSV', async (vendor, condition) => {
  const found = await storedOf(`${contract}_${vendor}`, files[vendor]());
  const expected = await storedOf('tape.csv', csv(condition));
  expect(found).toEqual(expected);
  expect(expected.flow_events!.length).toBeGreaterThan(0);
});
