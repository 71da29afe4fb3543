import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import { lastSession } from '../../domain/chain/option-root.ts';
import { type GexColumns, type GexRow, gexColumns, gexRowAt, noContracts } from '../../domain/gex/gex.ts';
import type { SolvedChain } from '../chain/solve-chain.ts';
import { methodologySettings } from '../methodology.ts';
import { type ChainGroup, resolveMultiplier } from '../pricing/chain-groups.ts';
import { deltaAdjustedGex, gex } from './exposure.ts';
import { netCurve } from './flip-point.ts';
import type { SidedGex } from './levels.ts';

/** A capture's rows and counts. */
export interface GexRows {
  /** Net rows, ascending by strike. */
  strikes: GexRow[];
  /** Unsummed rows, ascending by strike, then expiry. */
  byExpiry: GexRow[];
  sided: SidedGex[];
  /** Open contracts of all live rows, and of those whose gamma is known. */
  openInterest: number;
  coveredInterest: number;
  contractCount: number;
  gammaAbsent: number;
  /** Σ|gex| over contracts, dollars per $1 move. */
  grossGex: number;
}

interface Cell extends GexRow, SidedGex {}

/** Gammas and deltas behind a chain's exposures, of the source or solved. */
interface ChainGammas extends Pick<SolvedChain, 'gamma' | 'delta'> {
  groups: readonly ChainGroup[];
}

/**
 * Contracts of a row that dealers are assumed to be long (calls) and short (puts), or the other way round if negative.
 * Null when unknown.
 */
export type CountOf = (row: ChainRow) => number | null;

/** The contracts that captures are made of. */
export const openInterestOf: CountOf = ({ openInterest }) => openInterest;

/**
 * The share of open interest with known gamma; null if it is too small for a capture, or no strike has open interest.
 */
export function publishedCoverage({ strikes, openInterest, coveredInterest }: GexRows): number | null {
  const coverage = openInterest === 0 ? 1 : coveredInterest / openInterest;
  return strikes.length === 0 || coverage < methodologySettings.minimumOiCoverage ? null : coverage;
}

/** Net gex, dollars per $1 move: the sum of all net rows. */
export function netGexOf({ strikes }: Pick<GexRows, 'strikes'>): number {
  return strikes.reduce((sum, row) => sum + row.gex, 0);
}

/** The sum of what is known of two numbers; null if neither is. */
export function addKnown(known: number | null, more: number | null): number | null {
  return more === null ? known : (known ?? 0) + more;
}

/**
 * Exposure rows of a solved chain. Terms are added in one order, by strike, expiry, root, call before put, so that the
 * order of rows never changes a figure, and a net row is exactly the sum of its expiries' rows.
 */
export function gexRows(
  chain: ChainCapture,
  solved: ChainGammas,
  spot: number,
  countOf: CountOf = openInterestOf,
): GexRows {
  const expiring = new Set(
    solved.groups.map(({ expiry }) => expiry).filter((expiry) => lastSession(expiry) === chain.sessionDate),
  );
  const cells = new Map<string, Cell>();
  const rows: GexRows = {
    strikes: [],
    byExpiry: [],
    sided: [],
    openInterest: 0,
    coveredInterest: 0,
    contractCount: 0,
    gammaAbsent: 0,
    grossGex: 0,
  };
  for (const group of solved.groups) {
    for (const { strike, call, put } of group.strikes) {
      const key = `${group.expiry} ${strike}`;
      let cell = cells.get(key);
      if (!cell) {
        cell = emptyCell(strike, group.expiry);
        cells.set(key, cell);
      }
      for (const index of [call, put]) {
        if (index < 0) continue;
        const row = chain.rows[index]!;
        addContract(rows, cell, { row, index, group, count: countOf(row) }, solved, spot);
      }
    }
  }
  const sorted = [...cells.values()].filter(({ callOi, putOi }) => callOi !== null || putOi !== null);
  sorted.sort((a, b) => a.strike - b.strike || (a.expiry! < b.expiry! ? -1 : 1));
  for (const cell of sorted)
    addCell(rows, cell, expiring.size > 0 ? (expiring.has(cell.expiry!) ? cell.gex : 0) : null);
  const net = netCurve(gexColumns(rows.byExpiry));
  rows.strikes = Array.from(net.strike, (_, index) => gexRowAt(net, index));
  return rows;
}

function emptyCell(strike: number, expiry: string | null): Cell {
  return { strike, expiry, ...noContracts, callGex: 0, putGex: 0 };
}

/** One contract to be added, with the contracts that count. */
interface Counted {
  row: ChainRow;
  /** Index of the row in the chain. */
  index: number;
  group: ChainGroup;
  count: number | null;
}

function addContract(
  rows: GexRows,
  cell: Cell,
  { row, index, group, count }: Counted,
  solved: ChainGammas,
  spot: number,
): void {
  const { right } = row;
  if (right === 'call') cell.callOi = addKnown(cell.callOi, count);
  else cell.putOi = addKnown(cell.putOi, count);
  if (count === null) return;
  rows.openInterest += Math.abs(count);
  const gamma = solved.gamma[index]!;
  if (Number.isNaN(gamma)) {
    if (count !== 0) rows.gammaAbsent++;
    return;
  }
  rows.coveredInterest += Math.abs(count);
  rows.contractCount++;
  const delta = solved.delta[index]!;
  const position = { right, gamma, openInterest: count, multiplier: resolveMultiplier(group, row), delta };
  const value = gex(position, spot);
  rows.grossGex += Math.abs(value);
  cell.gex += value;
  if (right === 'call') cell.callGex += value;
  else cell.putGex += value;
  // An unknown delta makes the sum unknown, unless its weight is zero.
  if (Number.isNaN(delta)) cell.deltaAdj = value === 0 ? cell.deltaAdj : null;
  else if (cell.deltaAdj !== null) cell.deltaAdj += deltaAdjustedGex(position, spot);
}

/** Appends a cell to the unsummed rows and to the sides of its strike. Cells come ascending by strike. */
function addCell(rows: GexRows, { callGex, putGex, ...cell }: Cell, gex0dte: number | null): void {
  rows.byExpiry.push({ ...cell, gex0dte });
  const sided = rows.sided.at(-1);
  if (sided?.strike !== cell.strike) rows.sided.push({ strike: cell.strike, callGex, putGex });
  else {
    sided.callGex += callGex;
    sided.putGex += putGex;
  }
}

/**
 * Indexes, ascending, of the `top` net rows with the largest |gex|; null if there are no more than that. Of equal ones
 * the lower strikes stay. Strikes ascending.
 */
export function topStrikes({ gex }: Pick<GexColumns, 'gex'>, top: number): Uint32Array | null {
  if (gex.length <= top) return null;
  const sizes = gex.map(Math.abs);
  // A heap of the selected rows, with the first to drop on top: the smallest, of equal ones the highest strike.
  const heap = Uint32Array.from({ length: top }, (_, i) => i);
  const goesBefore = (a: number, b: number) => sizes[a]! < sizes[b]! || (sizes[a] === sizes[b] && a > b);
  for (let i = (top >> 1) - 1; i >= 0; i--) sink(heap, i, goesBefore);
  for (let row = top; row < sizes.length; row++) {
    if (sizes[row]! <= sizes[heap[0]!]!) continue;
    heap[0] = row;
    sink(heap, 0, goesBefore);
  }
  return heap.sort();
}

function sink(heap: Uint32Array, from: number, goesBefore: (a: number, b: number) => boolean): void {
  const item = heap[from]!;
  let index = from;
  for (let child = 2 * index + 1; child < heap.length; child = 2 * index + 1) {
    if (child + 1 < heap.length && goesBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!goesBefore(heap[child]!, item)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = item;
}
