import { flipPoint } from '../../src/core/analytics/gex/flip-point.ts';
import { sessionOf } from '../../src/core/domain/calendar.ts';
import { type ChainCapture, type ChainRow, unknownNumbers } from '../../src/core/domain/chain/chain.ts';
import { type GexCapture, type GexRow, noContracts } from '../../src/core/domain/gex/gex.ts';
import { exchangeInstant, type SessionDate } from '../../src/core/domain/market-time.ts';
import { saveChainCapture } from '../../src/store/chain/chain-captures.ts';
import { saveGexCapture } from '../../src/store/gex/captures.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';

/** Epoch ms of a New York time `HH:MM` on a date. */
export function newYork(date: SessionDate, clock: string): number {
  const [hour, minute] = clock.split(':').map(Number) as [number, number];
  return exchangeInstant(date, hour * 60 + minute);
}

/** A row by (strike, expiry) from which a made-up capture is built. */
export type ExpiryRow = Partial<Omit<GexRow, 'expiry'>> & { strike: number; expiry: SessionDate; gex: number };

const sumKnown = (values: (number | null)[]) =>
  values.some((value) => value !== null) ? values.reduce((sum: number, value) => sum + (value ?? 0), 0) : null;

/** A made-up GEX capture whose net rows are the sums of `byExpiry`. */
export function gexCapture(
  underlying: string,
  capturedAt: number,
  byExpiry: readonly ExpiryRow[],
  more: Partial<GexCapture> = {},
): GexCapture {
  const sessionDate = sessionOf(capturedAt);
  const rows = byExpiry
    .map(
      (row): GexRow => ({
        ...noContracts,
        deltaAdj: row.gex / 2,
        callOi: 10,
        putOi: null,
        gex0dte: row.expiry === sessionDate ? row.gex : null,
        ...row,
      }),
    )
    .sort((a, b) => a.strike - b.strike || (a.expiry! < b.expiry! ? -1 : 1));
  const strikes = [...Map.groupBy(rows, (row) => row.strike)].map(
    ([strike, parts]): GexRow => ({
      ...noContracts,
      strike,
      expiry: null,
      gex: parts.reduce((sum, part) => sum + part.gex, 0),
      deltaAdj: sumKnown(parts.map((part) => part.deltaAdj)),
      callOi: sumKnown(parts.map((part) => part.callOi)),
      putOi: sumKnown(parts.map((part) => part.putOi)),
      gex0dte: sumKnown(parts.map((part) => part.gex0dte)),
    }),
  );
  const spot = more.spot === undefined ? 600.5 : more.spot;
  const crossing = more.flipPoint === undefined ? flipPoint(strikes, spot ?? 598.25) : more.flipPoint;
  return {
    underlying,
    capturedAt,
    sessionDate,
    spot,
    priorCloseSpot: 598.25,
    delayMs: null,
    subset: false,
    alone: false,
    netGex: strikes.reduce((sum, row) => sum + row.gex, 0),
    flipPoint: crossing,
    zeroGamma: 601.125,
    callWall: 610_000,
    putWall: 590_000,
    callGexPeak: 605_000,
    putGexPeak: 600_000,
    flipStatus: crossing === null ? 'no_crossing' : 'crosses',
    netVanna: 1234.5,
    netCharm: -678.9,
    gammaSource: 'solve',
    oiCoverage: 0.987,
    contractCount: rows.length * 2,
    gammaAbsent: 3,
    gammaDecimals: 4,
    inputs: null,
    methodologyVersion: '3',
    strikes,
    byExpiry: rows,
    expiries: [...new Set(rows.map((row) => row.expiry!))].sort().map((expiry) => ({
      expiry,
      maxPain: 600_000,
      expectedMoveStraddle: 7.25,
      expectedMoveSigma: 8.5,
      atmIv: 0.15,
      moveRatio: 0.935,
      inconsistent: false,
    })),
    impliedSpot: spot ?? 598.25,
    spotStale: false,
    inconsistentExpiries: 0,
    profile: null,
    ...more,
  };
}

/** A chain row with nothing but its contract known. */
export function chainRow(row: Pick<ChainRow, 'root' | 'expiry' | 'right' | 'strike'> & Partial<ChainRow>): ChainRow {
  return { ...unknownNumbers, sharesPerContract: 100, ...row };
}

/** A made-up chain capture. */
export function chainCapture(
  underlying: string,
  capturedAt: number,
  rows: ChainRow[],
  more: Partial<ChainCapture> = {},
): ChainCapture {
  const sessionDate = sessionOf(capturedAt);
  const spots = { spot: 600.5, priorCloseSpot: 598.25 };
  return {
    underlying,
    capturedAt,
    sessionDate,
    ...spots,
    partial: false,
    rate: null,
    delayMs: null,
    subset: false,
    alone: false,
    rows,
    ...more,
  };
}

/** Stores captures; true for each that changed the store. */
export function saveCaptures(
  store: Store,
  { gex = [], chains = [] }: { gex?: readonly GexCapture[]; chains?: readonly ChainCapture[] },
): Promise<boolean[]> {
  return inTransaction(store, async (tx) => {
    const changed: boolean[] = [];
    for (const capture of gex) changed.push(await saveGexCapture(tx, capture));
    for (const capture of chains) changed.push(await saveChainCapture(tx, capture));
    return changed;
  });
}
