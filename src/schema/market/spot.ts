import { type Spot, spot } from '../../resolvers/market/spot.ts';
import { builder } from '../builder.ts';
import { costs } from '../cost.ts';
import { PlainMetaType } from '../response-meta.ts';
import { SymbolType } from './symbol.ts';

const SpotType = builder.objectRef<Spot>('Spot').implement({
  description:
    "The close of a symbol's most recent daily bar: the current session's as it builds, else the last completed one's.",
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    price: t.exposeFloat('price', {
      nullable: true,
      description: 'Dollars; null when there is no bar within the last 10 calendar days.',
    }),
    ts: t.expose('ts', {
      type: 'EpochMs',
      nullable: true,
      description: 'Start of the bar the price came from, epoch ms; null when there is no recent bar.',
    }),
    meta: t.field({ type: PlainMetaType, description: 'Metadata of the answer.', resolve: ({ meta }) => meta }),
  }),
});

builder.objectField(SymbolType, 'spot', (t) =>
  t.field({
    type: SpotType,
    nullable: true,
    description: 'Its spot price; registry symbols only.',
    extensions: { scopeGroup: 'market.live', ...costs({ once: 2.5, each: 0.07 }) },
    resolve: ({ symbol }, _args, context) => spot(context, symbol),
  }),
);
