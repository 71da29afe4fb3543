// A chain that came in parts names all its files, and as known before a part came it is what it was then.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contractId } from '../../../src/core/domain/chain/option-contract.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { worth } from '../../support/tapes/quoted-tape.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const session = '2026-11-16';
const at = (minute: number) => exchangeInstant(session, minute);
const folder = temporaryFolder();
let app: TestApp;
let credential: string;

const contractsOf = (right: 'call' | 'put') =>
  [5900, 5950, 6000, 6050, 6100].map((strike) => ({
    root: 'SPXW',
    expiry: '2026-11-20',
    right,
    strike: strike * 1000,
  }));

/** A page of the exchange with the calls, or the puts, of one expiry. */
function page(name: string, minute: number, right: 'call' | 'put', withInterest = true): string {
  const options = contractsOf(right).map((contract) => {
    const fair = worth(contract, 6000, at(minute));
    const option = contractId(contract).slice(2);
    const quote = { option, bid: fair - 0.02, ask: fair + 0.02 };
    return withInterest ? { ...quote, open_interest: 100 } : quote;
  });
  const timestamp = new Date(at(minute)).toISOString().slice(0, 19).replace('T', ' ');
  const path = join(folder(), name);
  writeFileSync(path, JSON.stringify({ timestamp, data: { symbol: '^SPX', current_price: 6000, options } }));
  return path;
}

async function put(path: string, dataset: 'chain' | 'open-interest' = 'chain') {
  const { files } = await ingestFiles(app.store, dataset, [path], { now: () => app.clock.nowMs });
  expect(files[0], JSON.stringify(files)).toMatchObject({ status: 'stored' });
  app.clock.nowMs += 60_000;
}

beforeAll(async () => {
  app = await testApp({ nowMs: at(640), env: { PROVENANCE: 'public' } });
  credential = await app.key();
});
afterAll(() => app.close());

async function rest(path: string): Promise<Json> {
  const { status, body } = await app.get(path, { credential });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
const namesOf = ({ meta }: Json) =>
  meta.provenance.flatMap((each: Json) => each.files.map(({ name }: Json) => name)).sort();

const latest = '{ symbol(symbol: "SPX") { gex { latest { inputs { files { dataset name } } } } } }';
const inputFiles = async () => (await app.graphql(latest, {}, { credential })).data.symbol.gex.latest.inputs.files;

test('calls, then puts: one chain of two files, and as known before the puts the calls alone', async () => {
  await put(page('calls.json', 600, 'call'));
  const calls = await rest('/v2/chain/SPX?provenance=true');
  expect([calls.data.captured_at, calls.data.rows.length, namesOf(calls)]).toEqual([at(600), 5, ['calls.json']]);
  const knownMs = app.clock.nowMs;
  app.clock.nowMs += 60_000;
  await put(page('puts.json', 601, 'put'));
  const chain = await rest('/v2/chain/SPX?provenance=true');
  expect([chain.data.captured_at, chain.data.rows.length]).toEqual([at(601), 10]);
  expect(namesOf(chain)).toEqual(['calls.json', 'puts.json']);
  expect(await inputFiles()).toEqual([
    { dataset: 'chain', name: 'calls.json' },
    { dataset: 'chain', name: 'puts.json' },
  ]);
  const before = await rest(`/v2/chain/SPX?known=${knownMs}&provenance=true`);
  expect(before.data).toEqual(calls.data);
  expect(namesOf(before)).toEqual(['calls.json']);
});

test('a chain with the open interest of a file names that too', async () => {
  await put(page('bare-calls.json', 620, 'call', false));
  await put(page('bare-puts.json', 620.5, 'put', false));
  expect((await rest('/v2/chain/SPX')).data.rows.some((row: Json) => 'oi' in row)).toBe(false);
  const path = join(folder(), 'interest.csv');
  const contracts = [...contractsOf('call'), ...contractsOf('put')];
  const lines = contracts.map((contract) => `${contractId(contract)},50,${session}`);
  writeFileSync(path, ['ticker,open_interest,session_date', ...lines].join('\n'));
  await put(path, 'open-interest');
  const chain = await rest('/v2/chain/SPX?provenance=true');
  expect(chain.data.rows.map((row: Json) => row.oi)).toEqual(Array(10).fill(50));
  expect(namesOf(chain)).toEqual(['bare-calls.json', 'bare-puts.json', 'interest.csv']);
  expect((await rest('/v2/gex/SPX/grid')).data.captured_at).toBe(at(620.5));
  expect((await inputFiles()).map(({ name }: Json) => name).sort()).toEqual([
    ...['bare-calls.json', 'bare-puts.json', 'interest.csv'],
  ]);
});
