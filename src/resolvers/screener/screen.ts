import { mayRead, requireFlow, requireOffExchange, symbolAccess } from '../../access/entitlement/entitlement.ts';
import { distanceFrom } from '../../core/analytics/gex/levels.ts';
import {
  comparerOf,
  decisionOf,
  figuresOf,
  firstNull,
  type Position,
  sizeOf,
  type ValueOf,
} from '../../core/analytics/screener/filter.ts';
import { variancePremium } from '../../core/analytics/volatility.ts';
import { splitFactor } from '../../core/domain/market/splits.ts';
import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import {
  type FigureName,
  type FigureValue,
  figureColumns,
  figureNames,
  filterLimits,
  type ScreenFilter,
  type ScreenOrder,
} from '../../core/domain/screener.ts';
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { requireNow } from '../as-of.ts';
import { type RequestContext, requireSource } from '../context.ts';
import { foreignCursor, ofInstant, readCursor, writeCursor } from '../cursor.ts';
import { spotOf } from '../levels/levels.ts';
import { registeredSymbols } from '../market/registry.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { addPieces } from './figure-table.ts';
import { groupReaders, type Pieces, type ReadGroup } from './groups.ts';

/** A symbol with what the groups know of it. */
interface Screened {
  entry: SymbolEntry;
  pieces: Partial<Pieces>;
}

type Read = (screened: Screened) => FigureValue;

/** Percent from the spot to a price of the capture, dollars, as `levels` has it; null if either is unknown. */
function distancePct({ gex, quote }: Partial<Pieces>, priceOf: (gex: NonNullable<Pieces['gex']>) => number | null) {
  const price = gex ? priceOf(gex) : null;
  if (!gex || price === null) return null;
  const { spot, session } = spotOf(quote ?? null, gex);
  const shared = session === null ? price : price / splitFactor(gex.splits, gex.sessionDate, session);
  return distanceFrom(spot, shared).distancePct;
}

const dollars = (thousandths: number | null) => (thousandths === null ? null : thousandths / 1000);

const maturity =
  (days: 7 | 30 | 60 | 90): Read =>
  ({ pieces: { volatility } }) =>
    volatility?.maturities[days] ?? null;

const premiumOf = ({ pieces: { volatility, realized } }: Screened) =>
  variancePremium(volatility?.maturities[30] ?? null, realized?.closeToClose ?? null);

/** Time of the quotes behind the figures of captures: the earlier of two. */
function asOf({ pieces: { gex, volatility } }: Screened): number | null {
  const known = [gex?.asOf ?? null, volatility?.asOfMs ?? null].filter((ms) => ms !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Figures of a symbol, from what the groups know of it. */
const figures: Record<FigureName, Read> = {
  class: ({ entry }) => entry.class,
  sector: ({ entry }) => entry.sector,
  spot: ({ pieces: { quote } }) => quote?.spot ?? null,
  changePct: ({ pieces: { quote } }) => quote?.changePct ?? null,
  volume: ({ pieces: { quote } }) => quote?.volume ?? null,
  asOf,
  netGex: ({ pieces: { gex } }) => gex?.netGex ?? null,
  flipStatus: ({ pieces: { gex } }) => gex?.flipStatus ?? null,
  openInterest: ({ pieces: { gex } }) => gex?.openInterest ?? null,
  flipDistancePct: ({ pieces }) => distancePct(pieces, ({ flipPoint }) => flipPoint),
  zeroGammaDistancePct: ({ pieces }) => distancePct(pieces, ({ zeroGamma }) => zeroGamma),
  callWallDistancePct: ({ pieces }) => distancePct(pieces, ({ callWall }) => dollars(callWall)),
  putWallDistancePct: ({ pieces }) => distancePct(pieces, ({ putWall }) => dollars(putWall)),
  iv7: maturity(7),
  iv30: maturity(30),
  iv60: maturity(60),
  iv90: maturity(90),
  ivRank: ({ pieces: { volatility } }) => volatility?.rank ?? null,
  ivPercentile: ({ pieces: { volatility } }) => volatility?.percentile ?? null,
  riskReversal25: ({ pieces: { volatility } }) => volatility?.skew?.riskReversal25 ?? null,
  butterfly25: ({ pieces: { volatility } }) => volatility?.skew?.butterfly25 ?? null,
  realizedVolatility: ({ pieces: { realized } }) => realized?.closeToClose ?? null,
  variancePremium: (screened) => premiumOf(screened)?.variance ?? null,
  volatilityPremium: (screened) => premiumOf(screened)?.volatility ?? null,
  callPremiumUsd: ({ pieces: { flow } }) => flow?.callPremiumUsd ?? null,
  putPremiumUsd: ({ pieces: { flow } }) => flow?.putPremiumUsd ?? null,
  callPremiumRatio: ({ pieces: { flow } }) => flow?.callRatio ?? null,
  putPremiumRatio: ({ pieces: { flow } }) => flow?.putRatio ?? null,
  offExchangePct: ({ pieces: { offExchange } }) => offExchange?.offExchPct ?? null,
  offExchangeVolume: ({ pieces: { offExchange } }) => offExchange?.offExchVolume ?? null,
};

/** Number of symbols in a page: the default, and the maximum. */
export const screenLimits = { default: 50, max: 500 };

/** Maximum number of symbols that are screened as of an instant: none of their figures are held. */
export const mostPastSymbols = 250;

export interface ScreenArgs {
  where: ScreenFilter;
  orderBy?: ScreenOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}

export interface ScreenMeta extends ResponseMeta {
  /** Number of symbols on this page. */
  count: number;
  /** Number of symbols that match. */
  totalCount: number;
  cursor: string | null;
  /** Figures that the caller may not read, null in every row; null = none. */
  restricted: FigureName[] | null;
}

/** A symbol that matches, with its figures on demand. */
export interface ScreenRow {
  symbol: string;
  /** A figure; null if it is unknown, the caller may not read it, or its source is not configured. */
  figure: (name: FigureName) => MaybePromise<FigureValue>;
}

export interface ScreenPage {
  rows: ScreenRow[];
  meta: ScreenMeta;
}

/** Groups that figures are read from. */
function groupsOf(names: Iterable<FigureName>): Set<ReadGroup> {
  const groups = Array.from(names, (name) => figureColumns[name].groups as readonly string[]).flat();
  return new Set(groups.filter((group) => group !== 'registry') as ReadGroup[]);
}

function checkFilter(where: ScreenFilter): void {
  const { depth, conditions, listed } = sizeOf(where);
  const limits = filterLimits;
  if (depth > limits.depth) throw invalidParameter('where', `expected at most ${limits.depth} filters in each other`);
  if (conditions > limits.conditions)
    throw invalidParameter('where', `expected at most ${limits.conditions} conditions, got ${conditions}`);
  if (listed > limits.listed) throw invalidParameter('where', `expected at most ${limits.listed} values in lists`);
  const address = firstNull(where, 'where');
  if (address !== null) throw invalidParameter('where', `expected a value for ${address}, got null`);
}

/** Work that a screen asks for: its conditions, and the points of computing its figures as of an instant. */
export function screenWork({ where, orderBy }: Pick<ScreenArgs, 'where' | 'orderBy'>) {
  const { depth, conditions } = sizeOf(where);
  const asked = depth > filterLimits.depth ? [] : [...figuresOf(where), ...(orderBy ? [orderBy.figure] : [])];
  const pastPoints = Array.from(groupsOf(asked), (group) => groupReaders[group].pastCost);
  return { conditions, pastPoints: pastPoints.reduce((sum, points) => sum + points, 0) };
}

/** Throws 403 if the caller may not read a group. */
function requireRights({ caller }: RequestContext, group: ReadGroup): void {
  const { guard } = groupReaders[group];
  if (guard === 'flow') requireFlow(caller);
  if (guard === 'offExchange') requireOffExchange(caller);
}

/**
 * The groups that a screen reads. Throws 400 for a filter over the limits, and 403 if the caller may not read a group.
 */
export function checkScreen(
  context: RequestContext,
  { where, orderBy }: Pick<ScreenArgs, 'where' | 'orderBy'>,
): Set<ReadGroup> {
  checkFilter(where);
  const groups = groupsOf([...figuresOf(where), ...(orderBy ? [orderBy.figure] : [])]);
  for (const group of groups) requireRights(context, group);
  return groups;
}

function isServed(context: RequestContext, group: ReadGroup): boolean {
  const { guard, sources } = groupReaders[group];
  return (guard === null || mayRead(context.caller, guard)) && sources.some((source) => context.sources[source]);
}

const isRestricted = ({ caller }: RequestContext, name: FigureName) =>
  [...groupsOf([name])].some((group) => groupReaders[group].guard && !mayRead(caller, groupReaders[group].guard!));

/** A value, once its groups were read. */
const knownValue: ValueOf<Screened> = (screened, name) => {
  if (name === 'symbol') return screened.entry.symbol;
  const groups = figureColumns[name].groups as readonly string[];
  const isKnown = groups.every((group) => group === 'registry' || screened.pieces[group as ReadGroup] !== undefined);
  return isKnown ? figures[name](screened) : undefined;
};

/** The readable symbols about which the registry alone does not decide, with what the groups know of them. */
async function candidates(context: RequestContext, where: ScreenFilter, groups: Set<ReadGroup>): Promise<Screened[]> {
  const decide = decisionOf(where, knownValue);
  const readable = (await registeredSymbols(context))
    .filter((entry) => symbolAccess(context.caller, entry).allowed)
    .map((entry): Screened => ({ entry, pieces: {} }));
  const open = readable.filter((screened) => decide(screened) !== false);
  if (groups.size > 0 && context.past && open.length > mostPastSymbols)
    throw invalidParameter(
      'where',
      `as of an instant at most ${mostPastSymbols} symbols are screened, these are ${open.length}; add a condition on symbol, sector or class`,
    );
  for (const group of groups) await addPieces(context, group, open);
  return groups.size === 0 ? open : open.filter((screened) => decide(screened) === true);
}

interface Matching extends Position {
  screened: Screened;
}

/** Values of a cursor's position; the checksum is no secret, so that a forged one may contain anything. */
function positionOf(cursor: string, bound: readonly (string | number)[], order: ScreenOrder | null): Position {
  try {
    const [symbol, value] = JSON.parse(readCursor(cursor, bound, 'after')) as [unknown, unknown];
    const type = order && figureColumns[order.figure].type === 'text' ? 'string' : 'number';
    if (typeof symbol === 'string' && (value === null || typeof value === type))
      return { symbol, value: value as FigureValue };
  } catch {}
  throw foreignCursor('after');
}

/** The rows of a page: what a row asks for is read for all of them together, once. */
function rowsOf(context: RequestContext, page: readonly Screened[]): ScreenRow[] {
  const reading = new Map<ReadGroup, Promise<void>>();
  const read = (group: ReadGroup) => {
    const known = reading.get(group) ?? addPieces(context, group, page);
    reading.set(group, known);
    return known;
  };
  return page.map((screened) => ({
    symbol: screened.entry.symbol,
    figure: (name) => {
      const groups = groupsOf([name]);
      if (![...groups].every((group) => isServed(context, group))) return null;
      const value = knownValue(screened, name);
      if (value !== undefined) return value;
      return Promise.all(Array.from(groups, read)).then(() => figures[name](screened));
    },
  }));
}

/**
 * The readable symbols that a filter holds for, in the requested order, a page at a time. A condition or an order on
 * figures that the caller may not read is 403.
 */
export async function screen(context: RequestContext, args: ScreenArgs): Promise<ScreenPage> {
  // Its table of figures is of now.
  requireNow(context, 'the screener');
  const { where, after } = args;
  const order = args.orderBy ?? null;
  if (args.first != null && args.first < 1) throw invalidParameter('first', 'expected 1 or more');
  const groups = checkScreen(context, args);
  for (const group of groups) requireSource(context, ...groupReaders[group].sources);
  const asked = ['screen', JSON.stringify(where), order ? `${order.direction} ${order.figure}` : ''];
  const bound = [...asked, ...ofInstant(context)];
  const start = after == null ? null : positionOf(after, bound, order);
  const compare = comparerOf(order);
  const matching = (await candidates(context, where, groups))
    .map((screened): Matching => {
      const value = order ? knownValue(screened, order.figure)! : null;
      return { screened, symbol: screened.entry.symbol, value };
    })
    .sort(compare);
  const rest = start === null ? matching : matching.filter((each) => compare(each, start) > 0);
  const page = rest.slice(0, Math.min(args.first ?? screenLimits.default, screenLimits.max));
  const end = page.at(-1);
  const restricted = figureNames.filter((name) => isRestricted(context, name));
  const clamped = (args.first ?? 0) > screenLimits.max;
  return {
    rows: rowsOf(
      context,
      page.map(({ screened }) => screened),
    ),
    meta: {
      ...responseMeta(context, 'live', clamped ? ['limit_clamped'] : []),
      count: page.length,
      totalCount: matching.length,
      cursor: end && rest.length > page.length ? writeCursor(JSON.stringify([end.symbol, end.value]), bound) : null,
      restricted: restricted.length > 0 ? restricted : null,
    },
  };
}
