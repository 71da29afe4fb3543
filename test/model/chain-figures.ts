// Exposures of a chain by brute force, from core's greeks of each contract (methodology 1).
import type { ChainRow } from '../../src/core/domain/chain/chain.ts';
import { isLive, type Solution } from './chain-book.ts';

/** A figure of a strike, or of a strike and expiry. */
export interface ExposureRow {
  strike: number;
  expiry: string;
  gex: number;
  delta_adj: number | null;
  gex_0dte: number | null;
  call_oi: number | null;
  put_oi: number | null;
}

/** Exposures of a capture. */
export interface Exposures {
  net: number;
  flip: number | null;
  strikes: readonly ExposureRow[];
  byExpiry: readonly ExposureRow[];
}

const added = (known: number | null, more: number | null) => (more === null ? known : (known ?? 0) + more);
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

/** Where the cumulative curve crosses zero nearest the price, the lower of two. */
export function flipOf(rows: readonly Pick<ExposureRow, 'strike' | 'gex'>[], price: number): number | null {
  const zero = 1e-9 * sum(rows.map(({ gex }) => Math.abs(gex)));
  const sums = rows.map(({ strike }, i) => ({
    at: strike / 1000,
    sum: sum(rows.slice(0, i + 1).map(({ gex }) => gex)),
  }));
  const isZero = ({ sum: value }: { sum: number }) => Math.abs(value) <= zero;
  const points = sums.flatMap((b, i) => {
    const before = sums.slice(0, i).findLastIndex((each) => !isZero(each));
    const a = sums[before];
    if (isZero(b) || !a || Math.sign(a.sum) === Math.sign(b.sum)) return [];
    const between = sums.slice(before + 1, i).map(({ at }) => at);
    const share = Math.abs(a.sum) / (Math.abs(a.sum) + Math.abs(b.sum));
    return between.length > 0 ? between : [a.at + (b.at - a.at) * share];
  });
  return points.toSorted((a, b) => Math.abs(a - price) - Math.abs(b - price) || a - b)[0] ?? null;
}

/** The row of some contracts; null if their open interest is unknown. `today`: the expiry of today; null = none. */
function rowOf(rows: readonly ChainRow[], price: number, today: string | null): ExposureRow | null {
  const { strike, expiry } = rows[0]!;
  const gex_0dte = today === null ? null : 0;
  const row: ExposureRow = { strike, expiry, gex: 0, delta_adj: 0, gex_0dte, call_oi: null, put_oi: null };
  for (const { right, openInterest, solved, sharesPerContract, expiry: own } of rows) {
    const side = right === 'call' ? 'call_oi' : 'put_oi';
    row[side] = added(row[side], openInterest);
    if (openInterest === null || solved?.gamma == null) continue;
    const value = (right === 'call' ? 1 : -1) * solved.gamma * openInterest * (sharesPerContract ?? 100) * price;
    row.gex += value;
    if (own === today) row.gex_0dte = added(row.gex_0dte, value);
    row.delta_adj = row.delta_adj! + Math.abs(solved.delta!) * value;
  }
  return row.call_oi === null && row.put_oi === null ? null : row;
}

/** Exposures over some expiries; null if none may be published. */
export function exposuresOf(solution: Solution, isWanted: (expiry: string) => boolean = () => true): Exposures | null {
  const { capture, rows } = solution;
  const price = capture.spot ?? capture.priorCloseSpot;
  const live = rows.filter((row) => isLive(solution, row));
  const open = (rows: readonly ChainRow[]) => sum(rows.map(({ openInterest }) => openInterest ?? 0));
  const isCovered = open(live.filter(({ solved }) => solved?.gamma != null)) >= 0.9 * open(live);
  if (price === null || !isCovered || live.every(({ openInterest }) => openInterest === null)) return null;
  const today = live.some(({ expiry }) => expiry === capture.session) ? capture.session : null;
  const rowsBy = (key: (row: ChainRow) => string) =>
    [
      ...Map.groupBy(
        live.filter(({ expiry }) => isWanted(expiry)),
        key,
      ).values(),
    ]
      .flatMap((rows) => rowOf(rows, price, today) ?? [])
      .toSorted((a, b) => a.strike - b.strike || (a.expiry < b.expiry ? -1 : 1));
  const byExpiry = rowsBy(({ strike, expiry }) => `${strike} ${expiry}`);
  const strikes = rowsBy(({ strike }) => String(strike));
  return { net: sum(strikes.map(({ gex }) => gex)), flip: flipOf(strikes, price), strikes, byExpiry };
}

/** The strikes with the largest |gex|. */
export function topOf({ strikes, byExpiry }: Exposures, isByExpiry: boolean, top: number): readonly ExposureRow[] {
  const most = strikes.toSorted((a, b) => Math.abs(b.gex) - Math.abs(a.gex) || a.strike - b.strike).slice(0, top);
  const kept = new Set(most.map(({ strike }) => strike));
  return (isByExpiry ? byExpiry : strikes).filter(({ strike }) => kept.has(strike));
}

/**
 * Delta and vega exposure over some expiries, each contract in whole cents; null without a price. A source's own
 * greeks, where nothing else is known, may have no vega: then none is expected.
 */
export function sensitivitiesOf(solution: Solution, isWanted: (expiry: string) => boolean) {
  const price = solution.capture.spot ?? solution.capture.priorCloseSpot;
  const live = solution.rows.filter((row) => isLive(solution, row) && isWanted(row.expiry));
  const known = live.filter(({ openInterest, solved }) => openInterest && solved?.iv);
  const cents = (value: number) => Math.round(100 * value);
  const counts = ({ openInterest, sharesPerContract }: ChainRow) => openInterest! * (sharesPerContract ?? 100);
  if (price === null) return null;
  const delta = sum(known.map((row) => cents(row.solved!.delta! * counts(row) * price))) / 100;
  if (known.some(({ solved }) => solved!.vega === null)) return { delta };
  return {
    delta,
    vega: sum(known.map((row) => cents((row.right === 'call' ? 1 : -1) * row.solved!.vega! * counts(row)))) / 100,
  };
}
