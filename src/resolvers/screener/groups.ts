import type { GuardedData } from '../../access/entitlement/entitlement.ts';
import type { FlipStatus } from '../../core/domain/gex/gex.ts';
import type { Quote } from '../../core/domain/market/quote.ts';
import type { Split } from '../../core/domain/market/splits.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import type { FigureGroup } from '../../core/domain/screener.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import type { Subject } from '../../store/versions/subjects.ts';
import type { Dataset, RequestContext } from '../context.ts';
import { loadSplits } from '../corporate.ts';
import { unusualFlow } from '../flow/unusual.ts';
import { flipStatusOf, gexCaptureAt } from '../gex/gex.ts';
import { symbolQuote } from '../market/quotes.ts';
import { offExchangePage } from '../offexchange.ts';
import { lastOffExchangeSession } from '../publication.ts';
import { type VolatilityFigures, volatilityFigures } from '../volatility/figures.ts';
import { rankOf } from '../volatility/rank.ts';
import { lastClosedSession, type RealizedVolatility, realizedOf } from '../volatility/realized.ts';

/** Figures of a symbol's latest GEX capture. */
export interface GexFigures {
  sessionDate: SessionDate;
  /** Time of its quotes, epoch ms. */
  asOf: number;
  spot: number | null;
  netGex: number;
  flipPoint: number | null;
  flipStatus: FlipStatus | null;
  zeroGamma: number | null;
  callWall: number | null;
  putWall: number | null;
  openInterest: number;
  splits: readonly Split[];
}

/** Volatility figures of a symbol. */
export interface ScreenedVolatility extends Pick<VolatilityFigures, 'maturities' | 'asOfMs'> {
  /** Skew of the expiry nearest to 30 days; null if there is none. */
  skew: VolatilityFigures['expiries'][number] | null;
  rank: number | null;
  percentile: number | null;
}

/** Premium of a symbol's options in the session. */
export interface ScreenedFlow {
  callPremiumUsd: number | null;
  putPremiumUsd: number | null;
  callRatio: number | null;
  putRatio: number | null;
}

/** Off-exchange figures of a symbol's last published session. */
export interface ScreenedOffExchange {
  offExchPct: number | null;
  offExchVolume: number;
}

/** A symbol's figures by group; null = it has none. */
export interface Pieces {
  quote: Quote | null;
  gex: GexFigures | null;
  volatility: ScreenedVolatility | null;
  realized: Pick<RealizedVolatility, 'closeToClose'> | null;
  flow: ScreenedFlow | null;
  offExchange: ScreenedOffExchange | null;
}

/** The groups that are read, as the registry is not. */
export type ReadGroup = Exclude<FigureGroup, 'registry'>;

/** Reader of a group of figures, and the rules by which they stay as they are. */
export interface GroupReader<P> {
  /** Sources, of which one must be configured. */
  sources: readonly [Dataset, ...Dataset[]];
  /** Data with a rule of its own; null = the symbol's alone. */
  guard: GuardedData | null;
  /** Subjects of the stored data that it depends on. */
  subjects: readonly Subject[];
  /** Changes when figures may change although no data does. */
  period: (context: RequestContext) => string;
  /** Number of symbols that are read at a time. */
  chunk: number;
  /** Points of computing it for the symbols of the past. */
  pastCost: number;
  read: (context: RequestContext, symbol: string) => Promise<P | null>;
}

const minuteOf = ({ nowMs }: RequestContext) => String(Math.floor(nowMs / minuteMs));

const known = (column: Float64Array) => column.reduce((sum, value) => (Number.isNaN(value) ? sum : sum + value), 0);

async function gexFigures(context: RequestContext, symbol: string): Promise<GexFigures | null> {
  const capture = await gexCaptureAt(context, symbol, null, {});
  if (capture === null) return null;
  const { sessionDate, sourceTime, spot, netGex, flipPoint, zeroGamma, callWall, putWall, columns } = capture;
  const [flipStatus, splits] = await Promise.all([flipStatusOf(context, capture), loadSplits(context, symbol)]);
  const openInterest = known(columns.callOi) + known(columns.putOi);
  const levels = { flipPoint, flipStatus, zeroGamma, callWall, putWall };
  return { sessionDate, asOf: sourceTime!, spot, netGex, ...levels, openInterest, splits };
}

/** Days to the maturity at which skew is screened. */
const skewDays = 30;

/** The expiry nearest to 30 days; of two equally near, the earlier one. */
function nearest(expiries: VolatilityFigures['expiries']): VolatilityFigures['expiries'][number] | null {
  const distanceOf = ({ dte }: { dte: number }) => Math.abs(dte - skewDays);
  return expiries.reduce<VolatilityFigures['expiries'][number] | null>(
    (best, each) => (best === null || distanceOf(each) < distanceOf(best) ? each : best),
    null,
  );
}

async function screenedVolatility(context: RequestContext, symbol: string): Promise<ScreenedVolatility> {
  const figures = await volatilityFigures(context, symbol);
  const ranked = await rankOf(context, figures);
  const { rank = null, percentile = null } = ranked ?? {};
  const { asOfMs, maturities, all } = figures;
  return { asOfMs, maturities, skew: nearest(all), rank, percentile };
}

async function screenedFlow(context: RequestContext, symbol: string): Promise<ScreenedFlow> {
  const { premium, ratios } = await unusualFlow(context, symbol);
  const { callPremiumUsd = null, putPremiumUsd = null } = premium ?? {};
  return { callPremiumUsd, putPremiumUsd, callRatio: ratios.call, putRatio: ratios.put };
}

async function screenedOffExchange(context: RequestContext, symbol: string): Promise<ScreenedOffExchange | null> {
  const { rows } = await offExchangePage(context, symbol, 'activity', { limit: 1 });
  const [last] = rows;
  return last ? { offExchPct: last.offExchPct, offExchVolume: last.offExchVolume } : null;
}

/** The groups of figures. */
export const groupReaders: { readonly [G in ReadGroup]: GroupReader<NonNullable<Pieces[G]>> } = {
  quote: {
    sources: ['bars'],
    guard: null,
    subjects: ['market', 'corporate'],
    period: minuteOf,
    chunk: 1000,
    pastCost: 30,
    read: symbolQuote,
  },
  gex: {
    sources: ['chain'],
    guard: null,
    subjects: ['gex', 'chain', 'corporate'],
    period: (context) => exchangeDate(context.nowMs),
    chunk: 250,
    pastCost: 40,
    read: gexFigures,
  },
  volatility: {
    sources: ['chain', 'option_tape'],
    guard: null,
    subjects: ['gex', 'chain', 'corporate'],
    period: (context) => exchangeDate(context.nowMs),
    chunk: 50,
    pastCost: 300,
    read: screenedVolatility,
  },
  realized: {
    sources: ['bars'],
    guard: null,
    subjects: ['market', 'corporate'],
    period: (context) => lastClosedSession(context.nowMs),
    chunk: 250,
    pastCost: 30,
    read: realizedOf,
  },
  flow: {
    sources: ['option_tape'],
    guard: 'flow',
    subjects: ['flow'],
    period: minuteOf,
    chunk: 250,
    pastCost: 40,
    read: screenedFlow,
  },
  offExchange: {
    sources: ['stock_tape'],
    guard: 'offExchange',
    subjects: ['offexchange'],
    period: lastOffExchangeSession,
    chunk: 500,
    pastCost: 20,
    read: screenedOffExchange,
  },
};
