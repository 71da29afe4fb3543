import {
  type SurfacePoint,
  surfacePoints,
  type TermExpiry,
  type VolatilityMeta,
  type VolatilitySurfacePage,
  type VolatilityTerm,
  volatilitySurfacePage,
  volatilityTerm,
} from '../../resolvers/chain/volatility.ts';
import { builder } from '../builder.ts';
import { SymbolType } from '../market/symbol.ts';
import { metaOf } from '../meta-of.ts';
import { byTicker, node } from '../node.ts';
import { GreeksSourceEnum } from './chain.ts';
import { OptionContractType, OptionRightEnum } from './contract.ts';
import { MarkSourceEnum } from './greeks.ts';

const VolatilityExpiryType = builder.objectRef<TermExpiry>('VolatilityExpiry').implement({
  description: 'At-the-money implied volatility of one expiry.',
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
    dte: t.exposeInt('dte', {
      description: 'Calendar days from the New York date of the capture to the last session of the expiry.',
    }),
    contractCount: t.exposeInt('contractCount', { description: 'Number of contracts with a known volatility.' }),
    atmStrike: t.expose('atmStrike', {
      type: 'StrikeThousandths',
      nullable: true,
      description:
        'The listed strike nearest the forward, thousandths of a dollar; null if the expiry has no volatility, or the price of the underlying is unknown.',
    }),
    atmIv: t.exposeFloat('atmIv', {
      nullable: true,
      description:
        'Implied volatility at the forward, an annualized fraction: total variance linear in ln(K/F) between the solved strikes on both sides. Null if a side has none, or the price of the underlying is unknown.',
    }),
  }),
});

const VolatilityPointType = builder.objectRef<SurfacePoint>('VolatilityPoint').implement({
  description: "One contract's implied volatility.",
  fields: (t) => ({
    contract: t.field({ type: OptionContractType, description: 'The contract.', resolve: (point) => point }),
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
    right: t.expose('right', { type: OptionRightEnum, description: 'Call or put.' }),
    iv: t.exposeFloat('iv', { description: 'Implied volatility, an annualized fraction: 0.1286 = 12.86%.' }),
    mark: t.exposeFloat('mark', {
      nullable: true,
      description: 'Price of the contract at the capture, dollars a share; null without a usable quote.',
    }),
    markSource: t.expose('markSource', {
      type: MarkSourceEnum,
      nullable: true,
      description:
        'Source of the mark; null if mark is null. Chain captures give mid only, because their trades have no time; solved minutes give all sources.',
    }),
    moneyness: t.exposeFloat('moneyness', {
      nullable: true,
      description:
        'Strike divided by the price of the underlying (its spot, else its prior close; the price that the quotes imply if that one is stale): 1 at the money. Null if neither is known.',
    }),
    delta: t.exposeFloat('delta', {
      nullable: true,
      description: 'Change of the option price per $1; null when unknown.',
    }),
    gamma: t.exposeFloat('gamma', { nullable: true, description: 'Change of delta per $1; null when unknown.' }),
  }),
});

const VolatilityMetaType = metaOf<VolatilityMeta>(
  'VolatilityMeta',
  'prices',
  'Metadata of implied volatilities.',
  (t) => ({
    greeksSource: t.expose('greeksSource', {
      type: GreeksSourceEnum,
      nullable: true,
      description:
        "Source of the volatilities and greeks; the capture's exposures are computed from the same. Null if there are none, or if an older version stored the capture.",
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Why the answer is empty; or the date of an old capture. Null if it is of the last session.',
    }),
  }),
);

/** The interface of what tells volatility by expiry. */
export const VolatilityTermInterface = builder.interfaceRef<VolatilityTerm>('VolatilityByExpiry').implement({
  description: 'At-the-money implied volatility by expiry.',
  resolveType: (page) =>
    'points' in page ? 'VolatilitySurface' : 'maturities' in page ? 'VolatilityFigures' : 'VolatilityTerm',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    asOfMs: t.expose('asOfMs', {
      type: 'EpochMs',
      nullable: true,
      description:
        'Minute of the solves or time of the chain capture, whichever is newer, epoch ms; null if there is neither.',
    }),
    spot: t.exposeFloat('spot', {
      nullable: true,
      description: 'Price of the underlying at the capture, dollars; null when unknown.',
    }),
    expiries: t.expose('expiries', {
      type: [VolatilityExpiryType],
      size: { rows: 'expiries' },
      description:
        'Expiries that were open at the capture, ascending; of the last session without those that have settled since.',
    }),
    meta: t.expose('meta', { type: VolatilityMetaType, description: 'Metadata of the answer.' }),
  }),
});

const VolatilityTermType = builder.objectRef<VolatilityTerm>('VolatilityTerm').implement({
  description: 'The term structure of implied volatility.',
  interfaces: [VolatilityTermInterface],
});

const VolatilitySurfaceType = builder.objectRef<VolatilitySurfacePage>('VolatilitySurface').implement({
  description: 'Implied volatility by contract.',
  interfaces: [VolatilityTermInterface],
  fields: (t) => ({
    points: t.field({
      type: [VolatilityPointType],
      size: { rows: 'contracts' },
      description:
        'Contracts with a known volatility, by expiry, strike, call before put. If an expiry has several roots, only those of the root that settles last.',
      resolve: surfacePoints,
    }),
  }),
});

/**
 * Cost of reading a symbol's volatilities: those of a whole chain, which each instant of the past decodes and solves
 * again.
 */
export const volatilityCost = { once: 4.5, each: 0.12 };
const points = volatilityCost.once + volatilityCost.each;

node(VolatilityTermType, ({ symbol }) => symbol, byTicker(volatilityTerm, points), 'analytics.vol');
node(VolatilitySurfaceType, ({ symbol }) => symbol, byTicker(volatilitySurfacePage, points), 'analytics.vol');

/** Volatility of one symbol; other files add their edges. */
export const SymbolVolatilityType = builder.objectRef<{ symbol: string }>('SymbolVolatility').implement({
  description:
    "Implied volatility of a symbol's options, from the source or solved from quotes. As of the last solved minute or the latest chain, whichever is newer.",
  fields: (t) => ({
    term: t.field({
      type: VolatilityTermType,
      nullable: true,
      scope: 'analytics.vol',
      price: volatilityCost,
      description: 'At-the-money implied volatility by expiry.',
      resolve: ({ symbol }, _args, context) => volatilityTerm(context, symbol),
    }),
    surface: t.field({
      type: VolatilitySurfaceType,
      nullable: true,
      scope: 'analytics.vol',
      price: volatilityCost,
      description: 'Implied volatility by contract.',
      resolve: ({ symbol }, _args, context) => volatilitySurfacePage(context, symbol),
    }),
  }),
});

node(
  SymbolVolatilityType,
  ({ symbol }) => symbol,
  byTicker((_context, symbol) => ({ symbol })),
);

builder.objectField(SymbolType, 'volatility', (t) =>
  t.field({
    type: SymbolVolatilityType,
    description: 'Implied volatility of its options.',
    resolve: ({ symbol }) => ({ symbol }),
  }),
);
