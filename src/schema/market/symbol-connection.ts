import { maxSymbolsPage, symbolConnection } from '../../resolvers/market/symbol-connection.ts';
import { builder } from '../builder.ts';
import { itemsAsked } from '../cost.ts';
import { marketField } from './as-of.ts';
import { SymbolClassEnum, SymbolType } from './symbol.ts';

/** Symbols as a connection: pages of the registry, or of a watchlist. */
export const SymbolConnectionType = builder.connectionObject(
  {
    type: SymbolType,
    name: 'SymbolConnection',
    description: 'A page of symbols.',
    fields: (t) => ({ totalCount: t.exposeInt('totalCount', { description: 'Number of symbols over all pages.' }) }),
  },
  { description: 'A symbol and its cursor.', nodeField: { description: 'The symbol.' } },
);

marketField('symbols', (t) =>
  t.field({
    type: SymbolConnectionType,
    nullable: true,
    description:
      'Registered symbols ascending by ticker, with search, filters and pages. A search lists the ticker itself first, then tickers that begin with the text, then names with a word that does, then names that contain it.',
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
    scope: 'market.reference',
    price: {
      once: 0.2,
      each: 0.1,
      sizes: ({ first }) => ({ page: itemsAsked(first, maxSymbolsPage) }),
    },
    resolve: (_root, args, context) => symbolConnection(context, args),
  }),
);
