import { expect, test } from 'vitest';
import { netCurve, rowsOfExpiries } from '../../../../src/core/analytics/gex/flip-point.ts';
import { type GexRow, gexColumns, gexRowAt, noContracts } from '../../../../src/core/domain/gex/gex.ts';
import { epochDay } from '../../../../src/core/domain/market-time.ts';

const [near, far] = ['2026-11-20', '2026-12-18'];
const row = (strike: number, expiry: string, more: Partial<GexRow>): GexRow => ({
  ...noContracts,
  strike,
  expiry,
  gex: 1,
  deltaAdj: 0.5,
  ...more,
});
const rows = gexColumns([
  row(590_000, near, { gex: 5, callOi: 1 }),
  row(590_000, far, { gex: -2, callOi: 2, deltaAdj: null }),
  row(600_000, far, { gex: 7, putOi: 0, gex0dte: 0 }),
]);

test('net rows are the sums at each strike; a delta-adjusted sum with an unknown part is unknown', () => {
  const net = netCurve(rows);
  expect([0, 1].map((index) => gexRowAt(net, index))).toEqual([
    { strike: 590_000, expiry: null, gex: 3, deltaAdj: null, callOi: 3, putOi: null, gex0dte: null },
    { strike: 600_000, expiry: null, gex: 7, deltaAdj: 0.5, callOi: null, putOi: 0, gex0dte: 0 },
  ]);
  expect(net.strike).toHaveLength(2);
});

test('rows of chosen expiries keep their order, and none make an empty curve', () => {
  const chosen = rowsOfExpiries(rows, (day) => day === epochDay(far));
  expect([...chosen.gex]).toEqual([-2, 7]);
  expect(netCurve(rowsOfExpiries(rows, () => false)).strike).toHaveLength(0);
});
