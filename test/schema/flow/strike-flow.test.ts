import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveCrossSections } from '../../../src/store/flow/cross-sections.ts';
import { saveCoverages } from '../../../src/store/flow/sessions.ts';
import { saveGexCapture } from '../../../src/store/gex/captures.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { coverage, measures } from '../../support/flow.ts';
import { gexCapture, newYork } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const strikes = Array.from({ length: 40 }, (_, i) => 590_000 + 1000 * i);
  const rows = strikes.map((strike) => ({ strike, expiry: '2026-12-18', gex: strike / 1000 }));
  await inTransaction(app.store, async (tx) => {
    for (const date of ['2026-11-19', '2026-11-20'])
      await saveGexCapture(
        tx,
        gexCapture('SPY', newYork(date, '10:00'), date === '2026-11-19' ? rows.slice(0, 1) : rows),
      );
    for (const [seq, date, base] of [
      [1, '2026-11-19', 100],
      [2, '2026-11-20', 5000],
    ] as const) {
      const covered = coverage(date, 700);
      await saveCoverages(tx, new Map([['SPY', covered]]));
      const byStrike = [590_000, 591_000, 640_000].map((strikeThousandths, i) => {
        return { strikeThousandths, measures: measures(base + 10 * i) };
      });
      await saveCrossSections(tx, [{ symbol: 'SPY', seq, coverage: covered, byStrike, byExpiration: [] }]);
    }
  });
});
afterAll(() => app.close());

const flowOfStrikes = (time: string) =>
  `{ symbol(symbol: "SPY") { gex { ${time} { strikes { strike flow { callVolume } } } } } }`;

test("a strike row leads to the flow at its strike in its capture's session; null where nothing was observed", async () => {
  const today = await app.graphql(flowOfStrikes('latest'));
  expect(today.errors).toBeUndefined();
  expect(today.data.symbol.gex.latest.strikes.slice(0, 3)).toEqual([
    { strike: 590_000, flow: { callVolume: 5000 } },
    { strike: 591_000, flow: { callVolume: 5010 } },
    { strike: 592_000, flow: null },
  ]);
  const before = await app.graphql(flowOfStrikes('at(time: "2026-11-19")'));
  expect(before.data.symbol.gex.at.strikes).toEqual([{ strike: 590_000, flow: { callVolume: 100 } }]);
});

test("a strike's flow leads to the net gamma there in its session's last capture; null where there is none", async () => {
  const { data, errors } = await app.graphql(
    '{ symbol(symbol: "SPY") { flow { crossSection { snapshot { update { byStrike { strikeThousandths gex { gex expiry } } } } } } } }',
  );
  expect(errors).toBeUndefined();
  const rows = data.symbol.flow.crossSection.snapshot.update.byStrike;
  expect(rows.map((row: Json) => row.gex)).toEqual([{ gex: 590, expiry: null }, { gex: 591, expiry: null }, null]);
});

test('forty strikes take as many statements as one', async () => {
  const counts = [];
  for (const top of [1, 40]) {
    const query = `{ symbol(symbol: "SPY") { gex { latest(topStrikes: ${top}) { strikes { flow { callVolume } } } } } }`;
    counts.push((await statementsOf(() => app.graphql(query))).length);
  }
  expect(counts[1]).toBe(counts[0]);
});

test('gamma stands without the flow that may not be read, which errs at its path', async () => {
  const { data, errors } = await app.graphql(
    '{ symbol(symbol: "SPY") { gex { latest(topStrikes: 1) { strikes { gex flow { callVolume } } } } } }',
    {},
    { credential: await app.key({ apiTier: 'basic' }) },
  );
  expect(data.symbol.gex.latest.strikes).toEqual([{ gex: 629, flow: null }]);
  expect(errors).toMatchObject([
    { path: ['symbol', 'gex', 'latest', 'strikes', 0, 'flow'], extensions: { code: 'not_entitled_tier' } },
  ]);
});
