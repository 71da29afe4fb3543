import { contractIn, type marketPhases } from '../../core/domain/journal.ts';
import type { Bar } from '../../core/domain/market/bar.ts';
import { barNumbers } from '../../core/domain/market/bar-columns.ts';
import {
  type Benchmark,
  dayAtFill,
  type FillGamma,
  type FillSlippage,
  fillGamma,
  fillSlippage,
  type LevelDistance,
  minuteAtFill,
  quoteAtFill,
  rangePosition,
  type TradeMarket,
} from '../../resolvers/journal/trade-market.ts';
import { builder } from '../builder.ts';
import { OptionContractType } from '../chain/contract.ts';
import { columnFields } from '../column-fields.ts';
import { enumValues } from '../enum-values.ts';
import { QuoteType } from '../market/quotes.ts';
import { SymbolType } from '../market/symbol.ts';

const MarketPhaseEnum = builder.enumType('MarketPhase', {
  description: 'Part of the trading day.',
  values: enumValues<(typeof marketPhases)[number]>({
    regular: 'The regular session.',
    extended: 'Before or after the regular session, 04:00 to 20:00 New York.',
    closed: 'The exchange is closed.',
  }),
});

const BenchmarkEnum = builder.enumType('Benchmark', {
  description: 'The price that a fill is compared with, as it was known at the fill.',
  values: enumValues<Benchmark>({
    minute_vwap: 'Vwap of the minute up to the fill; for a contract, that of the last minute that had ended.',
    day_vwap: 'Vwap of the session up to the fill.',
    quote: 'The spot of the quote; for a contract, the middle of bid and ask in the last chain.',
  }),
});

const FillBarType = builder.objectRef<Bar>('FillBar').implement({
  description: 'A bar up to a fill.',
  fields: (t) => columnFields(t, barNumbers),
});

const SlippageType = builder.objectRef<FillSlippage>('FillSlippage').implement({
  description: 'Cost of a fill against a price. Positive = worse than it: bought above, or sold below.',
  fields: (t) => ({
    benchmark: t.expose('benchmark', { type: BenchmarkEnum, description: 'The price that the fill is compared with.' }),
    reference: t.exposeFloat('reference', { nullable: true, description: 'Price of the benchmark, dollars a share.' }),
    perShare: t.exposeFloat('perShare', { nullable: true, description: 'Slippage, dollars a share.' }),
    bps: t.exposeFloat('bps', { nullable: true, description: 'Slippage in basis points of the reference.' }),
    totalUsd: t.exposeFloat('totalUsd', {
      nullable: true,
      description: 'Slippage of the whole fill, dollars: per share × quantity × multiplier of the contract.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'Why the slippage is unknown; null if it is known.' }),
  }),
});

const LevelDistanceType = builder.objectRef<LevelDistance>('LevelDistance').implement({
  description: 'A level, and its distance from the spot.',
  fields: (t) => ({
    level: t.exposeFloat('level', { description: "Dollars, in shares of the fill's session." }),
    distance: t.exposeFloat('distance', {
      nullable: true,
      description: 'Level minus spot, dollars: negative below the spot. Null without a spot.',
    }),
    distanceBps: t.exposeFloat('distanceBps', { nullable: true, description: 'The same in basis points of the spot.' }),
  }),
});

const FillGammaType = builder.objectRef<FillGamma>('FillGamma').implement({
  description: 'Dealer gamma at a fill, by the last capture by then.',
  fields: (t) => {
    const level = (name: 'zeroGamma' | 'flipPoint' | 'callWall' | 'putWall', what: string) =>
      t.expose(name, {
        type: LevelDistanceType,
        nullable: true,
        description: `${what}; null if the capture has none.`,
      });
    return {
      capturedAt: t.expose('capturedAt', {
        type: 'EpochMs',
        nullable: true,
        description: 'When the chain was captured, epoch ms; null if there was no capture.',
      }),
      spot: t.exposeFloat('spot', {
        nullable: true,
        description: 'Spot of the quote at the fill, dollars; null when unknown.',
      }),
      netGex: t.exposeFloat('netGex', { nullable: true, description: 'Net dealer gamma, dollars per $1 move.' }),
      isAboveZeroGamma: t.exposeBoolean('isAboveZeroGamma', {
        nullable: true,
        description: 'True if the spot was above zero gamma; null if either is unknown.',
      }),
      zeroGamma: level('zeroGamma', 'Price at which re-priced net gamma changes sign'),
      flipPoint: level('flipPoint', 'Price at which the cumulative net gex curve crosses zero'),
      callWall: level('callWall', 'Strike with the largest positive net gex'),
      putWall: level('putWall', 'Strike with the most negative net gex'),
      note: t.exposeString('note', { nullable: true, description: 'Why figures are unknown; null if none is.' }),
    };
  },
});

/** The market at a trade's fill. */
export const TradeMarketType = builder.objectRef<TradeMarket>('TradeMarket').implement({
  description:
    'The market at the fill of a trade, as in `asOf`: nothing later is read. Each part requires the same access as its own field.',
  fields: (t) => ({
    at: t.field({ type: 'EpochMs', description: 'Time of the fill, epoch ms.', resolve: ({ trade }) => trade.tsMs }),
    phase: t.expose('phase', { type: MarketPhaseEnum, description: 'Part of the trading day.' }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Why there are no figures: the trade is later than now, or before 1990. Null otherwise.',
    }),
    symbol: t.field({
      type: SymbolType,
      nullable: true,
      description: 'The symbol at the fill, with all its fields; for a contract, its underlying. Null if note is not.',
      resolve: ({ symbol, note }) => (note === null ? { symbol } : null),
    }),
    contract: t.field({
      type: OptionContractType,
      nullable: true,
      description:
        'The contract at the fill, with all its fields. Null for a trade of shares, and if note is not null.',
      resolve: ({ trade, note }) => (note === null ? contractIn(trade.symbol) : null),
    }),
    quote: t.field({
      type: QuoteType,
      nullable: true,
      description: 'Quote of the symbol; for a contract, that of its underlying.',
      scope: 'market.live',
      price: { once: 3, each: 0.15 },
      resolve: (market, _args, context) => quoteAtFill(context, market),
    }),
    minute: t.field({
      type: FillBarType,
      nullable: true,
      description:
        'The minute of the fill up to its last whole second; for a contract, whose bars are known by the minute, the last minute that had ended. Null if nothing had traded.',
      scope: 'market.bars',
      price: { once: 1.2, each: 0.15 },
      resolve: (market, _args, context) => minuteAtFill(context, market),
    }),
    day: t.field({
      type: FillBarType,
      nullable: true,
      description:
        "The symbol's session up to the fill; for a contract, that of its underlying. Null if nothing had traded.",
      scope: 'market.bars',
      price: { once: 3, each: 0.15 },
      resolve: (market, _args, context) => dayAtFill(context, market),
    }),
    rangePosition: t.float({
      nullable: true,
      description:
        "Position of the price in the day's range so far, a fraction: 0 at the low, 1 at the high. For a contract: that of its underlying's spot. Null if unknown or if the range has no width.",
      scope: 'market.bars',
      price: { once: 3, each: 0.15 },
      resolve: (market, _args, context) => rangePosition(context, market),
    }),
    slippage: t.field({
      type: SlippageType,
      nullable: true,
      description: 'Cost of the fill against a price that was known by then.',
      args: {
        against: t.arg({ type: BenchmarkEnum, defaultValue: 'minute_vwap', description: 'The price.' }),
      },
      scope: 'market.bars',
      price: { once: 3, each: 0.15 },
      resolve: (market, { against }, context) => fillSlippage(context, market, against ?? 'minute_vwap'),
    }),
    gamma: t.field({
      type: FillGammaType,
      nullable: true,
      description: 'Dealer gamma: above or below zero gamma, and the distance to the walls.',
      scope: 'analytics.gex',
      price: { once: 3, each: 0.3 },
      resolve: (market, _args, context) => fillGamma(context, market),
    }),
  }),
});
