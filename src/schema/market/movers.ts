import { moverColumns } from '../../core/domain/market/quote-columns.ts';
import {
  type Mover,
  type MoversMeta,
  type MoversPage,
  type MoverUniverse,
  moverLimits,
  movers,
} from '../../resolvers/market/movers.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { itemsAsked, registryQuotesCost } from '../cost.ts';
import { enumValues } from '../enum-values.ts';
import { metaOf } from '../meta-of.ts';
import { marketField } from './as-of.ts';
import { SymbolType } from './symbol.ts';

const MoverUniverseEnum = builder.enumType('MoverUniverse', {
  description: 'The symbols that movers are selected from: registry = all registered symbols.',
  values: enumValues<MoverUniverse>({ registry: 'All registered symbols.' }),
});

const MoverType = builder.objectRef<Mover>('Mover').implement({
  description: 'A symbol and its change against the prior close.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    ...columnFields(t, moverColumns),
    node: t.field({
      type: SymbolType,
      description: 'The symbol and its fields.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
  }),
});

const MoversMetaType = metaOf<MoversMeta>('MoversMeta', 'market', 'Metadata of movers.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of rows in the answer.' }),
  computedAt: t.expose('computedAt', {
    type: 'EpochMs',
    description: 'When the changes were computed, epoch ms. They are computed once a minute and shared by all callers.',
  }),
  universe: t.expose('universe', {
    type: MoverUniverseEnum,
    description: 'The symbols that the movers were selected from.',
  }),
  note: t.exposeString('note', { nullable: true, description: 'The notes of the rows; null if there are none.' }),
}));

const MoversPageType = builder.objectRef<MoversPage>('Movers').implement({
  description: 'The symbols that moved most.',
  fields: (t) => ({
    rows: t.field({
      type: [MoverType],
      size: { rows: 'page' },
      description: 'By absolute change, largest first.',
      resolve: (page) => page.rows,
    }),
    meta: t.field({ type: MoversMetaType, description: 'Metadata of the movers.', resolve: (page) => page.meta }),
  }),
});

marketField('movers', (t) =>
  t.field({
    type: MoversPageType,
    nullable: true,
    description:
      'The symbols with the largest change against their prior close. Only symbols that the caller may read and whose change is known.',
    args: {
      limit: t.arg.int({
        defaultValue: moverLimits.default,
        description: `Number of symbols, 1 or more. A value over ${moverLimits.max} is clamped and reported.`,
      }),
      universe: t.arg({
        type: MoverUniverseEnum,
        defaultValue: 'registry',
        description: 'The symbols that movers are selected from.',
      }),
    },
    scope: 'market.screener',
    price: {
      once: 0.1,
      each: ({ past = 0 }) => past * registryQuotesCost,
      sizes: ({ limit }) => ({ page: itemsAsked(limit, moverLimits.max, moverLimits.default) }),
    },
    resolve: (_root, args, context) => movers(context, args),
  }),
);
