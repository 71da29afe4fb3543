import type { LevelStatus } from '../../core/domain/levels.ts';
import {
  type Level,
  type LevelKind,
  type LevelsMeta,
  type LevelsPage,
  mostOffExchange,
  symbolLevels,
} from '../../resolvers/levels/levels.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';
import { instantArgs } from '../instant-args.ts';
import { SymbolType } from '../market/symbol.ts';
import { metaOf } from '../meta-of.ts';

const LevelKindEnum = builder.enumType('LevelKind', {
  description: 'Kinds of price levels.',
  values: enumValues<LevelKind>({
    call_wall: 'Strike with the largest positive net gex.',
    put_wall: 'Strike with the most negative net gex.',
    flip: 'Price at which the cumulative net gex curve crosses zero.',
    zero_gamma: 'Price near the spot at which re-priced net gamma changes sign.',
    max_pain: 'Strike at which holders of the first open expiry receive the least.',
    expected_move_high: 'Price that options are priced with, plus the at-the-money straddle of the first open expiry.',
    expected_move_low: 'Price that options are priced with, less the at-the-money straddle of the first open expiry.',
    sigma_move_high: 'Price that options are priced with, plus one standard deviation at the first open expiry.',
    sigma_move_low: 'Price that options are priced with, less one standard deviation at the first open expiry.',
    off_exchange: 'Midpoint of a price bucket with concentrated off-exchange trading.',
  }),
});

const LevelStatusEnum = builder.enumType('LevelStatus', {
  description:
    'Reliability of a level. A flip has the values of FlipStatus; other kinds have partial, stands, none or inconsistent.',
  values: enumValues<LevelStatus>({
    no_strikes: 'There are no strikes, so there is no flip.',
    no_crossing: 'The cumulative net gex curve does not cross zero, so there is no flip.',
    partial: 'The chain is known to lack contracts.',
    remote: 'The flip is more than 20% from the spot of the capture. Zero gamma is more reliable.',
    fragile: 'A small change of open interest moves the flip far. Zero gamma is more reliable.',
    crosses: 'The curve crosses zero at the flip.',
    stands: 'The level exists.',
    none: 'There is no such level: its price is null.',
    inconsistent:
      'The expected moves of the expiry, from the straddle and from the volatility, differ by more than 5%.',
  }),
});

const LevelType = builder.objectRef<Level>('Level').implement({
  description: 'A price level.',
  fields: (t) => ({
    kind: t.expose('kind', { type: LevelKindEnum, description: 'Kind of level.' }),
    price: t.exposeFloat('price', {
      nullable: true,
      description: 'Price, dollars, with the basis added; null if there is no such level.',
    }),
    distance: t.exposeFloat('distance', {
      nullable: true,
      description: 'Dollars from the spot to the level, before any basis: negative below the spot. Null if unknown.',
    }),
    distancePct: t.exposeFloat('distancePct', {
      nullable: true,
      description: 'distance in percent of the spot: 1.5 is 1.5%. Null if unknown.',
    }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'Time of the capture of the level, epoch ms; null for off_exchange.',
    }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Session of the level.' }),
    asOf: t.expose('asOf', {
      type: 'EpochMs',
      description: 'Time of the quotes of its capture, epoch ms; for off_exchange the end of its session.',
    }),
    expiry: t.expose('expiry', {
      type: 'SessionDate',
      nullable: true,
      description: 'Expiry of the level; null for kinds without one, or if none is open.',
    }),
    rank: t.exposeInt('rank', { nullable: true, description: 'Rank off exchange, 1 = highest; null for other kinds.' }),
    status: t.expose('status', {
      type: LevelStatusEnum,
      nullable: true,
      description:
        'Reliability of the level. Null for a flip of a capture that an older version stored, if its rows do not determine it.',
    }),
  }),
});

const LevelsMetaType = metaOf<LevelsMeta>('LevelsMeta', 'prices', 'Metadata of price levels.', (t) => ({
  basis: t.exposeFloat('basis', {
    nullable: true,
    description: 'Dollars added to each price; null if none were sent.',
  }),
  restricted: t.expose('restricted', {
    type: [LevelKindEnum],
    nullable: true,
    size: { rows: 1 },
    description: 'Kinds of levels that the caller may not read and that are omitted; null if there are none.',
  }),
  count: t.exposeInt('count', { description: 'Number of levels.' }),
  note: t.exposeString('note', {
    nullable: true,
    description: `Why there are no gamma levels; or the date of an old capture. Null if they are of the last session.`,
  }),
}));

const LevelsType = builder.objectRef<LevelsPage>('Levels').implement({
  description: 'Price levels of a symbol.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    spot: t.exposeFloat('spot', {
      nullable: true,
      description:
        'Price from which distances are measured, dollars, without a basis: of the quote, or of the capture if that is of a later session. Null when unknown.',
    }),
    levels: t.expose('levels', {
      type: [LevelType],
      size: { rows: 9 + mostOffExchange },
      description: `Levels: those of the latest GEX capture, then at most ${mostOffExchange} off exchange by rank. Prices are divided by splits since their session.`,
    }),
    meta: t.expose('meta', { type: LevelsMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolType, 'levels', (t) =>
  t.field({
    type: LevelsType,
    nullable: true,
    description:
      'Price levels: walls, flip, zero gamma, max pain, expected moves and off-exchange levels, with their distance from the spot. Kinds that the caller may not read are omitted and named in meta.restricted.',
    args: {
      basis: t.arg.float({
        description:
          'Dollars to add to each price, such as the difference between a future and its index; -100000 to 100000.',
      }),
      ...instantArgs('Answer as of this instant. A date means its end. Default: live.'),
    },
    scope: 'analytics.gex',
    price: { once: 5, each: 0.3 },
    resolve: ({ symbol }, args, context) => symbolLevels(context, symbol, args),
  }),
);
