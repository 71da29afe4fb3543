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
} from '../../resolvers/account/watchlists.ts';
import type { ResponseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { costs, itemsAsked, writing } from '../cost.ts';
import { SymbolConnectionType } from '../market/symbol-connection.ts';
import { PlainMetaType, ResponseMetaInterface } from '../response-meta.ts';

/** Tickers of a list, as a rule: those with more cost what they have. */
const usualTickers = 100;

const WatchlistType = builder.objectRef<Watchlist>('Watchlist').implement({
  description: 'A named list of symbols.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id its owner chose.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    tickers: t.expose('symbols', {
      type: ['Ticker'],
      extensions: costs({ rows: usualTickers }),
      description: 'Tickers, uppercase, in the order they were sent; one sent twice is there twice.',
    }),
    symbols: t.field({
      type: SymbolConnectionType,
      nullable: true,
      description: 'The same as nodes of the graph, each with everything known of it.',
      args: {
        first: t.arg.int({
          required: true,
          description: `Symbols a page, at most ${watchlistLimits.symbols}, which is all a list can have.`,
        }),
        after: t.arg.string({ description: 'pageInfo.endCursor of the page before.' }),
      },
      extensions: costs<{ first: number }>({
        sizes: ({ first }) => ({ page: itemsAsked(first, watchlistLimits.symbols) }),
      }),
      resolve: (list, { first, after }) => watchlistSymbols(list, first, after),
    }),
  }),
});

const WatchlistMeta = builder.objectRef<WatchlistPage['meta']>('WatchlistMeta').implement({
  description: 'Metadata of watchlists.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({ count: t.exposeInt('count', { description: 'Number of lists.' }) }),
});

const WatchlistPageType = builder.objectRef<WatchlistPage>('Watchlists').implement({
  description: "The caller's watchlists.",
  fields: (t) => ({
    rows: t.expose('rows', {
      type: [WatchlistType],
      extensions: costs({ rows: 'page' }),
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
        description: `Only so many; all when not sent, and then what is asked of each is charged as for ${watchlistLimits.lists}.`,
      }),
    },
    extensions: {
      scopeGroup: 'watchlists',
      ...costs<{ first?: number | null }>({
        once: 0.5,
        sizes: ({ first }) => ({ page: itemsAsked(first, watchlistLimits.lists) }),
      }),
    },
    resolve: (_root, { first }, context) => watchlists(context, first ?? null),
  }),
  watchlist: t.field({
    type: WatchlistType,
    nullable: true,
    description: "One of the caller's watchlists; null when there is none of that id.",
    args: { id: t.arg.id({ required: true, description: 'Id its owner chose.' }) },
    extensions: { scopeGroup: 'watchlists', ...costs({ once: 1 }) },
    resolve: (_root, { id }, context) => watchlist(context, id),
  }),
}));

const PutWatchlistPayload = builder
  .objectRef<{ watchlist: Watchlist; meta: ResponseMeta }>('PutWatchlistPayload')
  .implement({
    description: 'A watchlist after storing it.',
    fields: (t) => ({
      watchlist: t.expose('watchlist', { type: WatchlistType, description: 'The list as it is stored.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
    }),
  });

const DeleteWatchlistPayload = builder
  .objectRef<{ deleted: string; meta: ResponseMeta }>('DeleteWatchlistPayload')
  .implement({
    description: 'The watchlists after deleting one.',
    fields: (t) => ({
      deleted: t.exposeID('deleted', { description: 'Id of the list.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
    }),
  });

builder.mutationFields((t) => ({
  putWatchlist: t.field({
    type: PutWatchlistPayload,
    nullable: true,
    description: `Stores a watchlist, replacing the one of that id. At most ${watchlistLimits.lists} lists of ${watchlistLimits.symbols} symbols.`,
    args: {
      id: t.arg.id({ required: true, description: 'Id, chosen by the caller.' }),
      name: t.arg.string({ required: true, description: 'Display name, not blank.' }),
      symbols: t.arg({
        type: ['Ticker'],
        required: true,
        description: 'Tickers in any case; each must be registered and readable on the plan.',
      }),
    },
    extensions: { scopeGroup: 'watchlists', ...costs(writing) },
    resolve: async (_root, list, context) => ({
      watchlist: await writeWatchlist(context, list),
      meta: watchlistMeta(context),
    }),
  }),
  deleteWatchlist: t.field({
    type: DeleteWatchlistPayload,
    nullable: true,
    description: 'Deletes a watchlist; not_found when there is none of that id.',
    args: { id: t.arg.id({ required: true, description: 'Id its owner chose.' }) },
    extensions: { scopeGroup: 'watchlists', ...costs(writing) },
    resolve: async (_root, { id }, context) => ({
      deleted: await removeWatchlist(context, id),
      meta: watchlistMeta(context),
    }),
  }),
}));
