import { type Spot, spot } from '../../resolvers/market/spot.ts';
import { builder } from '../builder.ts';
import { byTicker, node } from '../node.ts';
import { PlainMetaType } from '../response-meta.ts';
import { SymbolType } from './symbol.ts';

const SpotType = builder.objectRef<Spot>('Spot').implement({
  description:
    "Close of a symbol's latest daily bar: the current session's bar in progress, else the last completed one.",
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    price: t.exposeFloat('price', {
      nullable: true,
      description: 'Dollars; null if there is no bar within the last 10 calendar days.',
    }),
    ts: t.expose('ts', {
      type: 'EpochMs',
      nullable: true,
      description: 'Start of the bar the price comes from, epoch ms; null if there is no recent bar.',
    }),
    meta: t.field({ type: PlainMetaType, description: 'Metadata of the answer.', resolve: ({ meta }) => meta }),
  }),
});

/** Cost of a symbol's spot. */
const spotCost = { once: 2.5, each: 0.07 };

node(SpotType, ({ symbol }) => symbol, byTicker(spot, spotCost.once + spotCost.each), 'market.live');

builder.objectField(SymbolType, 'spot', (t) =>
  t.field({
    type: SpotType,
    nullable: true,
    description: 'Spot price. Registered symbols only.',
    scope: 'market.live',
    price: spotCost,
    resolve: ({ symbol }, _args, context) => spot(context, symbol),
  }),
);
