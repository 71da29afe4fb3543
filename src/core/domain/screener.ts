import { snakeCase } from './columns.ts';

/** Groups of figures that are read together. `registry` is known of every symbol. */
export type FigureGroup = 'registry' | 'quote' | 'gex' | 'volatility' | 'realized' | 'flow' | 'offExchange';

/** A figure that symbols are screened by. */
export interface FigureColumn {
  type: 'float64' | 'int64' | 'text';
  /** Scalar of the graph; absent = that of the type. */
  graph?: 'EpochMs';
  /** Groups that it is computed from. */
  groups: readonly FigureGroup[];
  /** In the graph: a noun phrase with the unit, and what null means. */
  description: string;
}

const registry = { type: 'text', groups: ['registry'] } as const;
const quote = { type: 'float64', groups: ['quote'] } as const;
const gex = { type: 'float64', groups: ['gex'] } as const;
const distance = { type: 'float64', groups: ['gex', 'quote'] } as const;
const volatility = { type: 'float64', groups: ['volatility'] } as const;
const premium = { type: 'float64', groups: ['volatility', 'realized'] } as const;
const flow = { type: 'float64', groups: ['flow'] } as const;
const offExchange = { type: 'float64', groups: ['offExchange'] } as const;

/** Figures that symbols are screened by, each equal to a field of the symbol. */
export const figureColumns = {
  class: { ...registry, description: 'Class: equity or index.' },
  sector: { ...registry, description: 'Sector; null if the sector map does not cover the symbol.' },
  spot: { ...quote, description: 'Price, dollars; quote { spot }. Null when unknown.' },
  changePct: { ...quote, description: 'Percent against the prior close; quote { changePct }. Null when unknown.' },
  volume: {
    ...quote,
    type: 'int64',
    description: 'Shares traded in the session; quote { volume }. Null for an index.',
  },
  asOf: {
    type: 'int64',
    graph: 'EpochMs',
    groups: ['gex', 'volatility'],
    description:
      'Time of the quotes behind the figures of gex and volatility, the earlier if they differ, epoch ms. Null without a capture.',
  },
  netGex: { ...gex, description: 'Dollars per $1 move; gex { latest { netGex } }. Null without a capture.' },
  flipStatus: {
    type: 'text',
    groups: ['gex'],
    description: 'Reliability of the flip point; gex { latest { flipStatus } }. Null without a capture.',
  },
  openInterest: {
    type: 'int64',
    groups: ['gex'],
    description:
      'Open interest of calls and puts, contracts: the sum over gex { latest { strikes { callOi putOi } } }. Null without a capture.',
  },
  flipDistancePct: { ...distance, description: 'Percent from the spot to the flip point. Null if there is none.' },
  zeroGammaDistancePct: { ...distance, description: 'Percent from the spot to zero gamma. Null if there is none.' },
  callWallDistancePct: { ...distance, description: 'Percent from the spot to the call wall. Null if there is none.' },
  putWallDistancePct: { ...distance, description: 'Percent from the spot to the put wall. Null if there is none.' },
  iv7: { ...volatility, description: 'At-the-money implied volatility at 7 days, an annualized fraction.' },
  iv30: { ...volatility, description: 'At-the-money implied volatility at 30 days, an annualized fraction.' },
  iv60: { ...volatility, description: 'At-the-money implied volatility at 60 days, an annualized fraction.' },
  iv90: { ...volatility, description: 'At-the-money implied volatility at 90 days, an annualized fraction.' },
  ivRank: { ...volatility, description: 'Rank of iv30 in a year, percent; volatility { figures { rank } }.' },
  ivPercentile: { ...volatility, description: 'Percentile of iv30 in a year, percent.' },
  riskReversal25: {
    ...volatility,
    description: '25-delta risk reversal of the expiry nearest to 30 days, an annualized fraction.',
  },
  butterfly25: {
    ...volatility,
    description: '25-delta butterfly of the expiry nearest to 30 days, an annualized fraction.',
  },
  realizedVolatility: {
    type: 'float64',
    groups: ['realized'],
    description: 'Realized volatility of 20 sessions, close to close, an annualized fraction.',
  },
  variancePremium: {
    ...premium,
    description: 'iv30² less the square of realizedVolatility, an annualized variance (the square of a fraction).',
  },
  volatilityPremium: { ...premium, description: 'iv30 less realizedVolatility, an annualized fraction.' },
  callPremiumUsd: { ...flow, description: 'Premium of calls in the session, dollars; flow { unusual }.' },
  putPremiumUsd: { ...flow, description: 'Premium of puts in the session, dollars; flow { unusual }.' },
  callPremiumRatio: {
    ...flow,
    description: 'Premium of calls, as a multiple of its mean over 20 sessions; flow { unusual { callRatio } }.',
  },
  putPremiumRatio: {
    ...flow,
    description: 'Premium of puts, as a multiple of its mean over 20 sessions; flow { unusual { putRatio } }.',
  },
  offExchangePct: {
    ...offExchange,
    description: 'Off-exchange fraction of the consolidated volume of the last published session.',
  },
  offExchangeVolume: { ...offExchange, description: 'Off-exchange volume of the last published session, shares.' },
} as const satisfies Record<string, FigureColumn>;

export type FigureName = keyof typeof figureColumns;
/** Names of the figures, in the order in which they are shown. */
export const figureNames = Object.keys(figureColumns) as FigureName[];

/** The name of a figure in REST and tables: `riskReversal25` is `risk_reversal_25`. */
export function figureRestName(name: FigureName): string {
  return snakeCase(name).replace(/(?<=[a-z])25$/, '_25');
}

/** The figures by these names. */
export const figureOfRestName: ReadonlyMap<string, FigureName> = new Map(
  figureNames.map((name) => [figureRestName(name), name]),
);

/** A value of a figure; null = unknown. */
export type FigureValue = number | string | null;

/** Conditions on one value, all of which must hold. A null value meets none of them but `isNull`. */
export interface Comparison {
  eq?: number | string | null;
  in?: readonly (number | string)[] | null;
  gt?: number | null;
  gte?: number | null;
  lt?: number | null;
  lte?: number | null;
  isNull?: boolean | null;
}

/** A filter: all of its conditions must hold. Keys besides those below are names of figures. */
export interface ScreenFilter extends Partial<Record<FigureName | 'symbol', Comparison | null>> {
  and?: readonly ScreenFilter[] | null;
  or?: readonly ScreenFilter[] | null;
  not?: ScreenFilter | null;
}

/** Order of a screen: by a figure, unknown values last, of equal ones by ticker. */
export interface ScreenOrder {
  figure: FigureName;
  direction: 'asc' | 'desc';
}

/** Maximum length of a saved screen's name, and bytes of its filter and order as JSON. */
export const savedScreenLimits = { nameLength: 200, bytes: 8192 };

/** Maximum size of a filter. */
export const filterLimits = { depth: 8, conditions: 100, listed: 500 };

/** True if a scope group of usage counts market data; false for what is an account's own. */
export function isMarketGroup(group: string): boolean {
  return group.startsWith('market.') || group.startsWith('analytics.');
}
