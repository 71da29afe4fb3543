import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contractId } from '../../../src/core/domain/chain/option-contract.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const [today, december] = ['2026-11-20', '2026-12-18'];
const rows = (root: string) =>
  Array.from({ length: 300 }, (_, i) =>
    chainRow({
      root,
      expiry: december,
      right: i % 2 ? 'put' : 'call',
      strike: 500_000 + 1000 * (i >> 1),
      openInterest: i,
      volume: 3 * i,
      bid: 1,
      ask: 1.5,
      iv: 0.2,
      delta: 0.5,
    }),
  );
const idsOf = (root: string) => rows(root).map(contractId);
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const at = newYork(today, '11:55');
  await saveCaptures(app.store, {
    chains: [
      chainCapture('SPY', newYork(today, '11:50'), []),
      chainCapture('SPY', at, rows('SPY')),
      chainCapture('SPX', at, rows('SPXW')),
      chainCapture('AAPL', at, rows('AAPL')),
      chainCapture('MSFT', at, rows('MSFT')),
      chainCapture('XOM', at, rows('XOM')),
    ],
  });
});
afterAll(() => app.close());

const snapshots = (ids: readonly string[], sending = {}) => app.get(`/v2/options?contracts=${ids.join(',')}`, sending);

describe('GET /v2/options?contracts=', () => {
  test('answers in the order asked, repeats included, with the latest chain’s values, key for key', async () => {
    const spy = 'O:SPY261218C00501000';
    const { status, body } = await snapshots([spy, 'o:spxw261218p00500000', 'O:SPY261218C00999000', spy]);
    expect(status).toBe(200);
    const unknown = { volume: null, volume_to_oi: null, bid: null, ask: null, last: null, fmv: null };
    const greeks = { gamma: null, theta: null, vega: null };
    const known = { bid: 1, ask: 1.5, last: null, fmv: null, iv: 0.2, delta: 0.5, ...greeks };
    const captured = { captured_at: newYork(today, '11:55'), spot: 600.5 };
    const contract = { underlying: 'SPY', expiry: december, right: 'call', strike: 501_000 };
    const first = { contract, ...captured, oi: 2, volume: 6, volume_to_oi: 3, ...known };
    expect(body.data).toStrictEqual([
      first,
      {
        contract: { underlying: 'SPXW', expiry: december, right: 'put', strike: 500_000 },
        ...captured,
        oi: 1,
        volume: 3,
        volume_to_oi: 3,
        ...known,
      },
      {
        contract: { ...contract, strike: 999_000 },
        captured_at: null,
        spot: null,
        oi: null,
        ...unknown,
        iv: null,
        delta: null,
        ...greeks,
      },
      first,
    ]);
    expect(body.meta).toStrictEqual({
      caps: { applied: [], tier: 'pro' },
      plane: 'live',
      read_at_ms: expect.any(Number),
      count: 4,
    });
  });

  test('a contract without open interest has no ratio', async () => {
    const { body } = await snapshots(['O:SPY261218C00500000']);
    expect(body.data[0]).toMatchObject({ oi: 0, volume: 0, volume_to_oi: null });
  });

  test('what the caller may not read is an empty row, and named', async () => {
    const credential = await app.session({ siteTier: 'free', classification: null });
    const { status, body } = await snapshots(['O:SPXW261218C00500000', 'O:SPY261218C00501000'], { credential });
    expect(status).toBe(200);
    expect(body.data.map(({ oi }: Json) => oi)).toEqual([null, 2]);
    expect(body.meta.restricted).toEqual(['O:SPXW261218C00500000']);
  });

  test('250 contracts are answered, 251 and malformed ones are not', async () => {
    const ids = idsOf('SPY');
    expect((await snapshots(ids.slice(0, 250))).body.meta.count).toBe(250);
    for (const wrong of [ids.slice(0, 251), ['O:SPY261218C00501000', 'SPY'], ['']]) {
      const { status, body } = await snapshots(wrong);
      expect([status, body.error.code]).toEqual([400, 'invalid_params']);
      expect(body.error.message).toContain('contracts');
    }
    const { errors } = await app.graphql('{ contracts(ids: []) { meta { count } } }');
    expect(errors![0].extensions.code).toBe('invalid_params');
  });
});

test('one contract and 250 of two underlyings take the same number of statements', async () => {
  const ask = async (ids: readonly string[]) => {
    const sent = await statementsOf(async () => {
      const { data } = await app.graphql(
        'query Q($ids: [OptionContractId!]!) { contracts(ids: $ids) { rows { openInterest iv } } }',
        { ids },
      );
      expect(data.contracts.rows.every(({ iv }: Json) => iv === 0.2)).toBe(true);
    });
    return sent.length;
  };
  const one = await ask(idsOf('MSFT').slice(0, 1));
  expect(one).toBeGreaterThan(0);
  expect(await ask([...idsOf('AAPL').slice(0, 125), ...idsOf('XOM').slice(0, 125)])).toBe(one);
});
