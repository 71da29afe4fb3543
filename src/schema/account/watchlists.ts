import {
  removeWatchlist,
  type Watchlist,
  type WatchlistPage,
  watchlist,
  watchlistLimits,
  watchlistMeta,
  watchlistSymbols,
  watchlists,
  writeWatchlist,
} from '../../resolvers/account.ts';
import type { ResponseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { itemsAsked, writing } from '../cost.ts';
import { SymbolConnectionType } from '../market/registry.ts';
import { metaOf } from '../meta-of.ts';
import { byOwnId, refetchable } from '../node.ts';
import { PlainMetaType } from '../response-meta.ts';

/** Usual number of tickers of a list: larger lists cost their actual number. */
const usualTickers = 100;

export const WatchlistType = builder.objectRef<Watchlist>('Watchlist').implement({
  description: 'A named list of symbols.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id chosen by its owner.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    tickers: t.expose('symbols', {
      type: ['Ticker'],
      size: { rows: usualTickers, mostRows: watchlistLimits.symbols },
      description: 'Tickers, uppercase, in the order they were sent. Repeats are preserved.',
    }),
    symbols: t.field({
      type: SymbolConnectionType,
      nullable: true,
      description: 'The same symbols with all their fields.',
      args: {
        first: t.arg.int({
          required: true,
          description: `Symbols per page, at most ${watchlistLimits.symbols}, the maximum size of a list.`,
        }),
        after: t.arg.string({ description: 'pageInfo.endCursor of the previous page.' }),
      },
      price: {
        sizes: ({ first }) => ({ page: itemsAsked(first, watchlistLimits.symbols) }),
      },
      resolve: (list, { first, after }) => watchlistSymbols(list, first, after),
    }),
  }),
});

/** Points of reading one list. */
const watchlistPoints = 1;

refetchable(WatchlistType, ({ id }) => id, byOwnId(watchlist, watchlistPoints), 'watchlists');

const WatchlistMeta = metaOf<WatchlistPage['meta']>('WatchlistMeta', 'registry', 'Metadata of watchlists.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of lists.' }),
}));

const WatchlistPageType = builder.objectRef<WatchlistPage>('Watchlists').implement({
  description: "The caller's watchlists.",
  fields: (t) => ({
    rows: t.expose('rows', {
      type: [WatchlistType],
      size: { rows: 'page' },
      description: 'Lists, oldest first.',
    }),
    meta: t.expose('meta', { type: WatchlistMeta, description: 'Metadata of the lists.' }),
  }),
});

builder.queryFields((t) => ({
  watchlists: t.field({
    type: WatchlistPageType,
    nullable: true,
    description: "The caller's watchlists, oldest first.",
    args: {
      first: t.arg.int({
        description: `Number of lists. Default: all; the cost is then charged as for ${watchlistLimits.lists} lists.`,
      }),
    },
    scope: 'watchlists',
    price: {
      once: 0.5,
      sizes: ({ first }) => ({ page: itemsAsked(first, watchlistLimits.lists) }),
    },
    resolve: (_root, { first }, context) => watchlists(context, first ?? null),
  }),
  watchlist: t.field({
    type: WatchlistType,
    nullable: true,
    description: "One of the caller's watchlists; null if the id is unknown.",
    args: { id: t.arg.id({ required: true, description: 'Id chosen by its owner.' }) },
    scope: 'watchlists',
    price: { once: watchlistPoints },
    resolve: (_root, { id }, context) => watchlist(context, id),
  }),
}));

const PutWatchlistPayload = builder
  .objectRef<{ watchlist: Watchlist; meta: ResponseMeta }>('PutWatchlistPayload')
  .implement({
    description: 'The watchlist after a change.',
    fields: (t) => ({
      watchlist: t.expose('watchlist', { type: WatchlistType, description: 'The stored list.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

const DeleteWatchlistPayload = builder
  .objectRef<{ deleted: string; meta: ResponseMeta }>('DeleteWatchlistPayload')
  .implement({
    description: 'Result of deleting a watchlist.',
    fields: (t) => ({
      deleted: t.exposeID('deleted', { description: 'Id of the deleted list.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

builder.mutationFields((t) => ({
  putWatchlist: t.field({
    type: PutWatchlistPayload,
    nullable: true,
    description: `Creates or replaces a watchlist. At most ${watchlistLimits.lists} lists of ${watchlistLimits.symbols} symbols.`,
    args: {
      id: t.arg.id({ required: true, description: 'Id chosen by the caller.' }),
      name: t.arg.string({ required: true, description: 'Display name, not blank.' }),
      symbols: t.arg({
        type: ['Ticker'],
        required: true,
        description: 'Tickers in any case. Each must be registered and readable by the account.',
      }),
    },
    scope: 'watchlists',
    price: writing,
    resolve: async (_root, list, context) => ({
      watchlist: await writeWatchlist(context, list),
      meta: watchlistMeta(context),
    }),
  }),
  deleteWatchlist: t.field({
    type: DeleteWatchlistPayload,
    nullable: true,
    description: 'Deletes a watchlist. not_found if the id is unknown.',
    args: { id: t.arg.id({ required: true, description: 'Id chosen by its owner.' }) },
    scope: 'watchlists',
    price: writing,
    resolve: async (_root, { id }, context) => ({
      deleted: await removeWatchlist(context, id),
      meta: watchlistMeta(context),
    }),
  }),
}));
