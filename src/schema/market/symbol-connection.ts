import { maxSymbolsPage, type SymbolConnection, symbolConnection } from '../../resolvers/market/symbol-connection.ts';
import { builder } from '../builder.ts';
import { costs, itemsAsked } from '../cost.ts';
import { SymbolClassEnum, type SymbolNode, SymbolType } from './symbol.ts';

/** Where a page of a connection lies; shared by every connection of the graph. */
export const PageInfoType = builder.objectRef<SymbolConnection['pageInfo']>('PageInfo').implement({
  description: 'Position of a page in its list.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'True if there is a next page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'True if there is a previous page.' }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description: 'Cursor of the first edge; null on an empty page.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Cursor of the last edge, sent as after to read the next page; null on an empty page.',
    }),
  }),
});

const SymbolEdgeType = builder.objectRef<{ cursor: string; node: SymbolNode }>('SymbolEdge').implement({
  description: 'A symbol and its cursor.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Cursor; send it as after to continue after this symbol.' }),
    node: t.field({ type: SymbolType, description: 'The symbol.', resolve: (edge) => edge.node }),
  }),
});

/** Symbols as a connection: pages of the registry, or of a watchlist. */
export const SymbolConnectionType = builder.objectRef<SymbolConnection>('SymbolConnection').implement({
  description: 'A page of symbols.',
  fields: (t) => ({
    nodes: t.field({
      type: [SymbolType],
      extensions: costs({ rows: 'page' }),
      description: 'The symbols of the page.',
      resolve: (page) => page.nodes,
    }),
    edges: t.field({
      type: [SymbolEdgeType],
      extensions: costs({ rows: 'page' }),
      description: 'The same symbols with their cursors.',
      resolve: (page) => page.edges,
    }),
    pageInfo: t.field({
      type: PageInfoType,
      description: 'Position of the page in the list.',
      resolve: (page) => page.pageInfo,
    }),
    totalCount: t.exposeInt('totalCount', { description: 'Number of symbols over all pages.' }),
  }),
});

builder.queryField('symbols', (t) =>
  t.field({
    type: SymbolConnectionType,
    nullable: true,
    description: 'Registered symbols ascending by ticker, with search, filters and pages.',
    args: {
      first: t.arg.int({
        required: true,
        description: `Symbols per page, at most ${maxSymbolsPage}; a larger value is clamped.`,
      }),
      after: t.arg.string({
        description: 'pageInfo.endCursor of the previous page. Leave the other arguments unchanged.',
      }),
      class: t.arg({ type: SymbolClassEnum, description: 'Only this class.' }),
      sector: t.arg.string({ description: 'Only this sector, in any case; other = symbols without a sector.' }),
      search: t.arg.string({
        description: 'Only symbols whose ticker begins with this text or whose name contains it, in any case.',
      }),
    },
    extensions: {
      scopeGroup: 'market.reference',
      ...costs<{ first: number }>({ once: 0.2, sizes: ({ first }) => ({ page: itemsAsked(first, maxSymbolsPage) }) }),
    },
    resolve: (_root, args, context) => symbolConnection(context, args),
  }),
);
