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
import { costs } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { ResponseMetaInterface } from '../response-meta.ts';
import { OptionContractType, OptionRightEnum } from './contract.ts';
import { MarkSourceEnum } from './greeks.ts';

const VolatilityExpiryType = builder.objectRef<TermExpiry>('VolatilityExpiry').implement({
  description: "One expiry's implied volatility at the money.",
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
    dte: t.exposeInt('dte', { description: 'Calendar days from the New York date of the capture.' }),
    contractCount: t.exposeInt('contractCount', { description: 'Contracts whose volatility is known.' }),
    atmStrike: t.expose('atmStrike', {
      type: 'StrikeThousandths',
      nullable: true,
      description: 'Strike of atmIv, thousandths: of those with a volatility the nearest the forward. Null with it.',
    }),
    atmIv: t.exposeFloat('atmIv', {
      nullable: true,
      description:
        'Implied volatility at the money, an annualized fraction; null when none is known, or no price of the underlying.',
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
      description: "The contract's price at the capture, dollars a share; null without a usable quote.",
    }),
    markSource: t.expose('markSource', {
      type: MarkSourceEnum,
      nullable: true,
      description:
        'Where the mark came from; null without one. A chain gives mids only: it does not date its trades; a solved minute gives all.',
    }),
    moneyness: t.exposeFloat('moneyness', {
      nullable: true,
      description:
        "Strike over the underlying's price (its spot, else its prior close): 1 at the money; null when neither is known.",
    }),
    delta: t.exposeFloat('delta', { nullable: true, description: 'Change of the price per $1; null when unknown.' }),
    gamma: t.exposeFloat('gamma', { nullable: true, description: 'Change of delta per $1; null when unknown.' }),
  }),
});

const VolatilityMetaType = builder.objectRef<VolatilityMeta>('VolatilityMeta').implement({
  description: 'Metadata of implied volatilities.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    note: t.exposeString('note', {
      nullable: true,
      description: 'Why there is nothing; null when there is something.',
    }),
  }),
});

const VolatilityTermInterface = builder.interfaceRef<VolatilityTerm>('VolatilityByExpiry').implement({
  description: 'Implied volatility at the money by expiry.',
  resolveType: (page) => ('points' in page ? 'VolatilitySurface' : 'VolatilityTerm'),
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    asOfMs: t.expose('asOfMs', {
      type: 'EpochMs',
      nullable: true,
      description:
        'The minute of the solves, or when the chain was captured, whichever is newer; epoch ms, null without either.',
    }),
    spot: t.exposeFloat('spot', {
      nullable: true,
      description: "The underlying's price at the capture, dollars; null when unknown.",
    }),
    expiries: t.expose('expiries', {
      type: [VolatilityExpiryType],
      extensions: costs({ rows: 'expiries' }),
      description: 'Expiries that were open at the capture, ascending.',
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
      extensions: costs({ rows: 'contracts' }),
      description:
        'Contracts whose volatility is known, by expiry, strike, call before put; where an expiry has several roots, those of the one that settles last.',
      resolve: (page, _args, context) => surfacePoints(page, context),
    }),
  }),
});

// A whole chain is read for either.
const usage = { extensions: { scopeGroup: 'analytics.vol', ...costs({ once: 1.5, each: 0.12 }) } } as const;

const SymbolVolatilityType = builder.objectRef<{ symbol: string }>('SymbolVolatility').implement({
  description:
    "Implied volatility of a symbol's options, the source's or solved from quotes, as of the last solved minute or the latest chain, whichever is newer.",
  fields: (t) => ({
    term: t.field({
      type: VolatilityTermType,
      nullable: true,
      ...usage,
      description: 'At the money, by expiry.',
      resolve: ({ symbol }, _args, context) => volatilityTerm(context, symbol),
    }),
    surface: t.field({
      type: VolatilitySurfaceType,
      nullable: true,
      ...usage,
      description: 'By contract.',
      resolve: ({ symbol }, _args, context) => volatilitySurfacePage(context, symbol),
    }),
  }),
});

builder.objectField(SymbolType, 'volatility', (t) =>
  t.field({
    type: SymbolVolatilityType,
    description: 'Implied volatility of its options.',
    resolve: ({ symbol }) => ({ symbol }),
  }),
);
