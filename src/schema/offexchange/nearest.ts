import { fromThousandths } from '../../core/domain/units.ts';
import {
  type NearestLevel,
  type NearestStrike,
  nearestLevel,
  nearestStrike,
} from '../../resolvers/offexchange/nearest.ts';
import { builder } from '../builder.ts';
import { GexStrikeType } from '../gex/capture.ts';
import { ConcentrationRowType, ProfileRowType } from './off-exchange.ts';

const NearestStrikeType = builder.objectRef<NearestStrike>('NearestStrike').implement({
  description: 'The gamma strike nearest to a price of off-exchange trading.',
  fields: (t) => ({
    strike: t.expose('strike', { type: GexStrikeType, description: 'The net row of the strike.' }),
    distance: t.exposeFloat('distance', {
      description: "Strike minus price, dollars in shares of the capture's session; negative below the price.",
    }),
    distanceBps: t.exposeFloat('distanceBps', { description: 'The same in basis points of the price.' }),
  }),
});

const NearestLevelType = builder.objectRef<NearestLevel>('NearestLevel').implement({
  description: 'The off-exchange price bucket nearest to a gamma strike.',
  fields: (t) => ({
    level: t.expose('level', { type: ConcentrationRowType, description: 'The price bucket.' }),
    distance: t.exposeFloat('distance', {
      description:
        "Midpoint of the bucket minus strike, dollars in shares of the capture's session; negative below the strike.",
    }),
    distanceBps: t.exposeFloat('distanceBps', { description: 'The same in basis points of the strike.' }),
  }),
});

const toStrike = {
  type: NearestStrikeType,
  nullable: true,
  price: { once: 1.5, each: 0.015 },
  description:
    "The nearest strike of the symbol's latest GEX capture; null if there is none. Of two equally near strikes, the lower one. Prices are divided by the splits since.",
} as const;

builder.objectField(ConcentrationRowType, 'nearestStrike', (t) =>
  t.field({
    ...toStrike,
    scope: 'analytics.gex',
    resolve: ({ symbol, date, bucketMidpoint }, _args, context) =>
      nearestStrike(context, { symbol, date, price: bucketMidpoint }),
  }),
);

builder.objectField(ProfileRowType, 'nearestStrike', (t) =>
  t.field({
    ...toStrike,
    scope: 'analytics.gex',
    resolve: ({ symbol, date, priceThousandths }, _args, context) =>
      nearestStrike(context, { symbol, date, price: fromThousandths(priceThousandths) }),
  }),
);

builder.objectField(GexStrikeType, 'nearestLevel', (t) =>
  t.field({
    type: NearestLevelType,
    nullable: true,
    scope: 'analytics.offexchange',
    price: { once: 2.5, each: 0.015 },
    description:
      'The nearest off-exchange price bucket of the last session published by the time of the capture; a session is published at 06:00 New York of the next trading day. Null if there is none. Prices are divided by the splits since.',
    resolve: (row, _args, context) => nearestLevel(context, row),
  }),
);
