import {
  type Mover,
  type MoversMeta,
  type MoversPage,
  moverLimits,
  movers,
  moverUniverses,
} from '../../resolvers/market/movers.ts';
import { builder } from '../builder.ts';
import { costs, itemsAsked } from '../cost.ts';
import { ResponseMetaInterface } from '../response-meta.ts';
import { SymbolType } from './symbol.ts';

const MoverUniverseEnum = builder.enumType('MoverUniverse', {
  description: 'Where movers are looked for: registry = all registered symbols.',
  values: moverUniverses,
});

const MoverType = builder.objectRef<Mover>('Mover').implement({
  description: 'A symbol that moved against its prior close.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    spot: t.exposeFloat('spot', { description: 'Price, dollars.' }),
    changePct: t.exposeFloat('changePct', {
      description: 'Percent against officialClose, with 4 decimals: -0.72 is -0.72%.',
    }),
    volume: t.expose('volume', {
      type: 'Long',
      nullable: true,
      description: 'Shares traded in the session of the price; null when unknown.',
    }),
    officialClose: t.exposeFloat('officialClose', { description: 'Close of the session before, dollars.' }),
    node: t.field({
      type: SymbolType,
      description: 'The symbol with its edges.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
  }),
});

const MoversMetaType = builder.objectRef<MoversMeta>('MoversMeta').implement({
  description: 'Metadata of movers.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Rows in the answer.' }),
    computedAt: t.expose('computedAt', {
      type: 'EpochMs',
      description: 'When the changes were computed, epoch ms; once a minute for everybody.',
    }),
    universe: t.expose('universe', { type: MoverUniverseEnum, description: 'Where movers were looked for.' }),
  }),
});

const MoversPageType = builder.objectRef<MoversPage>('Movers').implement({
  description: 'The symbols that moved most.',
  fields: (t) => ({
    rows: t.field({
      type: [MoverType],
      extensions: costs({ rows: 'page' }),
      description: 'By the size of the change, up or down, largest first.',
      resolve: (page) => page.rows,
    }),
    meta: t.field({ type: MoversMetaType, description: 'Metadata of the movers.', resolve: (page) => page.meta }),
  }),
});

builder.queryField('movers', (t) =>
  t.field({
    type: MoversPageType,
    nullable: true,
    description:
      'The symbols that changed most against their prior close, among those the caller may read and whose change is known.',
    args: {
      limit: t.arg.int({
        defaultValue: moverLimits.default,
        description: `At most so many, 1 or more; what is over ${moverLimits.max} is clamped and reported.`,
      }),
      universe: t.arg({
        type: MoverUniverseEnum,
        defaultValue: 'registry',
        description: 'Where movers are looked for.',
      }),
    },
    extensions: {
      scopeGroup: 'market.screener',
      ...costs<{ limit?: number | null }>({
        once: 0.1,
        sizes: ({ limit }) => ({ page: itemsAsked(limit, moverLimits.max, moverLimits.default) }),
      }),
    },
    resolve: (_root, args, context) => movers(context, args),
  }),
);
