import { instrumentTypes, type SymbolEntry } from '../../domain/symbol.ts';
import {
  lookup,
  maxLookupLength,
  type RegistryPage,
  registryPage,
  type SymbolLookup,
} from '../../resolvers/market/registry.ts';
import { chainPolicy } from '../../resolvers/market/symbol-facts.ts';
import { builder } from '../builder.ts';
import { costs } from '../cost.ts';
import { ResponseMetaInterface, TierEnum } from '../response-meta.ts';
import { ChainPolicyType, SymbolClassEnum } from './symbol.ts';

const InstrumentTypeEnum = builder.enumType('InstrumentType', {
  description: 'What kind of instrument a ticker is.',
  values: instrumentTypes,
});

const RegistryEntryType = builder.objectRef<SymbolEntry>('RegistryEntry').implement({
  description:
    'A line of the registry. It has no edges, so that the whole list may be had at once; see symbols for those.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker, uppercase.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    class: t.expose('class', { type: SymbolClassEnum, description: 'Equity or index.' }),
    chainPolicy: t.field({
      type: ChainPolicyType,
      description: 'What of its expiries the option chain covers.',
      resolve: chainPolicy,
    }),
    minTier: t.expose('minTier', { type: TierEnum, description: "Lowest tier that may read the symbol's data." }),
    requiresAttestation: t.exposeBoolean('requiresAttestation', {
      description: 'Whether a non-professional market-data declaration is required (index products).',
    }),
    sector: t.exposeString('sector', { nullable: true, description: 'Sector of the screener; null without one.' }),
  }),
});

const RegistryMetaType = builder.objectRef<RegistryPage['meta']>('RegistryMeta').implement({
  description: 'Metadata of the registry.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Number of rows.' }),
    class: t.expose('class', {
      type: SymbolClassEnum,
      nullable: true,
      description: 'The class asked for; null = any.',
    }),
  }),
});

const RegistryPageType = builder.objectRef<RegistryPage>('Registry').implement({
  description: 'The registry as a list.',
  fields: (t) => ({
    rows: t.field({
      type: [RegistryEntryType],
      extensions: costs({ rows: 'symbols' }),
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
    description: 'Every registered symbol at once, without edges. For pages, search and edges see symbols.',
    args: { class: t.arg({ type: SymbolClassEnum, description: 'Only this class.' }) },
    extensions: { scopeGroup: 'market.reference', ...costs({ once: 0.1 }) },
    resolve: (_root, args, context) => registryPage(context, args.class ?? null),
  }),
);

const SymbolLookupType = builder.objectRef<SymbolLookup>('SymbolLookup').implement({
  description: 'What is known of a text that may be a ticker.',
  fields: (t) => ({
    valid: t.exposeBoolean('valid', { description: 'Whether it is a real ticker, registered or not.' }),
    symbol: t.exposeString('symbol', { description: 'The text, uppercase.' }),
    name: t.exposeString('name', { nullable: true, description: 'Display name; null when not valid.' }),
    class: t.expose('class', {
      type: SymbolClassEnum,
      nullable: true,
      description: 'Equity or index; null when not valid.',
    }),
    instrumentType: t.expose('instrumentType', { type: InstrumentTypeEnum, description: 'Kind of instrument.' }),
    instrumentTypeSource: t.exposeString('instrumentTypeSource', {
      nullable: true,
      description: 'What says so: registry or directory; null when the type is unknown.',
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
    description: 'Whether a text is a real ticker, and of what.',
    args: {
      q: t.arg.string({ required: true, description: `A ticker in any case, at most ${maxLookupLength} characters.` }),
    },
    extensions: { scopeGroup: 'market.reference', ...costs({ once: 0.1 }) },
    resolve: (_root, { q }, context) => lookup(context, q),
  }),
);
