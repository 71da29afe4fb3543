import type { InstrumentType, SymbolEntry } from '../../core/domain/market/symbol.ts';
import {
  lookup,
  maxLookupLength,
  type RegistryPage,
  registryPage,
  type SymbolLookup,
} from '../../resolvers/market/registry.ts';
import { chainPolicy } from '../../resolvers/market/symbol-access.ts';
import { maxSymbolsPage, symbolConnection } from '../../resolvers/market/symbol-connection.ts';
import { builder } from '../builder.ts';
import { itemsAsked } from '../cost.ts';
import { enumValues } from '../enum-values.ts';
import { metaOf } from '../meta-of.ts';
import { TierEnum } from '../response-meta.ts';
import { marketField } from './as-of.ts';
import { ChainPolicyType, SymbolClassEnum, SymbolType } from './symbol.ts';

const InstrumentTypeEnum = builder.enumType('InstrumentType', {
  description: 'Instrument type of a ticker.',
  values: enumValues<InstrumentType>({
    common_equity: 'Common stock.',
    etf: 'An exchange-traded fund.',
    index: 'An index.',
    adr_other: 'An ADR, or another kind of instrument.',
    unknown: 'The source does not say.',
  }),
});

const RegistryEntryType = builder.objectRef<SymbolEntry>('RegistryEntry').implement({
  description: 'A registered symbol, without links to its data. Use symbols for those.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker, uppercase.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    class: t.expose('class', { type: SymbolClassEnum, description: 'Equity or index.' }),
    chainPolicy: t.field({
      type: ChainPolicyType,
      description: 'Expiries that the option chain covers.',
      resolve: chainPolicy,
    }),
    minTier: t.expose('minTier', { type: TierEnum, description: "Lowest tier that may read the symbol's data." }),
    requiresAttestation: t.exposeBoolean('requiresAttestation', {
      description: 'True if the symbol requires a non-professional market-data declaration (index products).',
    }),
    sector: t.exposeString('sector', { nullable: true, description: 'Sector of the screener; null if it has none.' }),
  }),
});

const RegistryMetaType = metaOf<RegistryPage['meta']>('RegistryMeta', 'registry', 'Metadata of the registry.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of rows.' }),
  class: t.expose('class', {
    type: SymbolClassEnum,
    nullable: true,
    description: 'The class filter of the request; null = none.',
  }),
}));

const RegistryPageType = builder.objectRef<RegistryPage>('Registry').implement({
  description: 'The registry as a list.',
  fields: (t) => ({
    rows: t.field({
      type: [RegistryEntryType],
      size: { rows: 'symbols' },
      description: 'Registered symbols ascending by ticker.',
      resolve: ({ rows }) => [...rows],
    }),
    meta: t.field({ type: RegistryMetaType, description: 'Metadata of the list.', resolve: (page) => page.meta }),
  }),
});

builder.queryField('registry', (t) =>
  t.field({
    type: RegistryPageType,
    nullable: true,
    description: 'All registered symbols in one list. Use symbols to search, page and read more of each symbol.',
    args: { class: t.arg({ type: SymbolClassEnum, description: 'Only this class.' }) },
    scope: 'market.reference',
    price: { once: 0.1 },
    resolve: (_root, args, context) => registryPage(context, args.class ?? null),
  }),
);

const SymbolLookupType = builder.objectRef<SymbolLookup>('SymbolLookup').implement({
  description: 'Result of looking up a ticker.',
  fields: (t) => ({
    valid: t.exposeBoolean('valid', { description: 'True if it is a real ticker, registered or not.' }),
    symbol: t.exposeString('symbol', { description: 'The ticker; the text in uppercase if it is not a ticker.' }),
    name: t.exposeString('name', { nullable: true, description: 'Display name; null if not valid.' }),
    class: t.expose('class', {
      type: SymbolClassEnum,
      nullable: true,
      description: 'Equity or index; null if not valid.',
    }),
    instrumentType: t.expose('instrumentType', { type: InstrumentTypeEnum, description: 'Instrument type.' }),
    instrumentTypeSource: t.exposeString('instrumentTypeSource', {
      nullable: true,
      description: 'Source of the type: registry or directory; null if the type is unknown.',
    }),
    instrumentTypeAsOf: t.expose('instrumentTypeAsOf', {
      type: 'SessionDate',
      nullable: true,
      description: 'Date the type was established; null = unknown.',
    }),
  }),
});

builder.queryField('lookup', (t) =>
  t.field({
    type: SymbolLookupType,
    nullable: true,
    description: 'Checks whether a text is a known ticker and returns what it names.',
    args: {
      q: t.arg.string({ required: true, description: `A ticker in any case, at most ${maxLookupLength} characters.` }),
    },
    scope: 'market.reference',
    price: { once: 0.1 },
    resolve: (_root, { q }, context) => lookup(context, q),
  }),
);

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
