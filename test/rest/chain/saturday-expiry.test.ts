import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { saveRates } from '../../../src/store/market/rates.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';

/*
 * One chain twice, an hour before its contracts end on a Friday: once they are dated that Friday, once the Saturday
 * after it, as monthly contracts were until 2015.
 */
const days = {
  saturday: { session: '2014-06-20', expiry: '2014-06-21', file: 'expiry-saturday.csv' },
  friday: { session: '2015-06-19', expiry: '2015-06-19', file: 'expiry-friday-control.csv' },
};

describe.skipIf(!hasSharedData)('contracts that are dated on a day without trading', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs: exchangeInstant('2015-06-22', 600) });
    // One rate in both years.
    await inTransaction(app.store, (tx) =>
      saveRates(
        tx,
        Object.values(days).map(({ session: date }) => ({ date, days: 30, rate: 0.045 })),
      ),
    );
    for (const { file } of Object.values(days)) {
      const path = sharedData(`ingest_inputs/${file}`);
      // The quotes of these files were made for the time that they print.
      const { files } = await ingestFiles(app.store, 'chain', [path], { now: () => app.clock.nowMs, delayMs: 0 });
      expect(files[0]).toMatchObject({ status: 'stored', badLineCount: 0 });
    }
  });
  afterAll(() => app.close());

  const atClose = (session: string) => `at=${session}T15:30:00`;
  async function data(path: string): Promise<Json> {
    const { status, body } = await app.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }

  async function both(path: (day: (typeof days)['friday']) => string): Promise<[Json, Json]> {
    return [await data(path(days.saturday)), await data(path(days.friday))];
  }

  test('have the volatility and theta of those dated on the Friday before', async () => {
    const [saturday, friday] = await both(({ session }) => `/v2/chain/SPY?${atClose(session)}`);
    const greeks = ({ data: { rows } }: Json) =>
      rows.map(({ contract, bid, iv, delta, gamma, theta, vega }: Json) => [
        ...[contract.right, contract.strike],
        ...[bid, iv, delta, gamma, theta, vega],
      ]);
    expect(greeks(saturday)).toEqual(greeks(friday));
    const solved = async ({ session, expiry }: (typeof days)['friday']) => {
      const at = `"${session}T15:30:00"`;
      const { data: answer, errors } = await app.graphql(`{ symbol(symbol: "SPY") {
        chain(at: ${at}, expiry: "${expiry}") { rows { contract { right strike } solved { iv theta gamma } } }
        gex { at(time: ${at}) { netGex zeroGamma expiries { atmIv expectedMoveSigma maxPain } } } } }`);
      expect(errors).toBeUndefined();
      return answer.symbol;
    };
    const [ours, control] = [await solved(days.saturday), await solved(days.friday)];
    expect(ours).toEqual(control);
    const atTheMoney = ours.chain.rows.filter(({ contract }: Json) => contract.strike === 195_000);
    expect(atTheMoney.length).toBe(2);
    for (const row of atTheMoney) expect(row.solved.iv).toBeCloseTo(0.12, 2);
  });

  test('are the zero-day part of the exposure, and what dte=0 selects', async () => {
    const [saturday, friday] = await both(({ session }) => `/v2/gex/SPY/grid?${atClose(session)}&dte=0`);
    expect(saturday.data.strikes.length).toBeGreaterThan(5);
    expect(saturday.data.strikes.map((row: Json) => row.gex_0dte)).toEqual(
      saturday.data.strikes.map((row: Json) => row.gex),
    );
    expect(saturday.data.strikes).toEqual(friday.data.strikes);
    expect(saturday.meta.dte_expiry).toBe(days.saturday.expiry);
  });

  test('are shown and filtered by the date they list', async () => {
    const { data: chain } = await data(
      `/v2/chain/SPY?${atClose(days.saturday.session)}&expiry=${days.saturday.expiry}`,
    );
    expect(chain.rows.length).toBeGreaterThan(20);
  });

  test('have 0 days left in the term structure, and are no live expiration after the close', async () => {
    for (const { session, expiry } of Object.values(days)) {
      app.clock.nowMs = exchangeInstant(session, 15 * 60 + 30);
      const { data: term } = await data('/v2/options/SPY/vol/term');
      expect(term.expiries).toMatchObject([{ expiry, dte: 0 }]);
      expect((await data('/v2/gex/SPY/grid?dte=0')).meta).toMatchObject({ dte: 0, dte_expiry: expiry });
      const listed = async () => (await data('/v2/chain/SPY/expirations')).data;
      expect(await listed()).toEqual([expiry]);
      app.clock.nowMs = exchangeInstant(session, 16 * 60);
      expect(await listed()).toEqual([]);
    }
  });
});
