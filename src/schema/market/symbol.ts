import { symbolClasses, tenorFrames } from '../../domain/symbol.ts';
import { type RequestContext, realTicker, registeredSymbol } from '../../resolvers/context.ts';
import {
  type AccessAnswer,
  accessTo,
  type ChainPolicy,
  chainPolicy,
  isRegistered,
} from '../../resolvers/market/symbol-facts.ts';
import { builder } from '../builder.ts';
import { TierEnum } from '../response-meta.ts';

/** A ticker as a node of the graph; facts about it are looked up where they are asked for. */
export interface SymbolNode {
  symbol: string;
}

export const SymbolClassEnum = builder.enumType('SymbolClass', {
  description: 'What kind of product a symbol is.',
  values: symbolClasses,
});
const TenorFrameEnum = builder.enumType('TenorFrame', {
  description: 'Spacing of the expiries that a chain covers.',
  values: tenorFrames,
});
const AccessRefusalEnum = builder.enumType('AccessRefusal', {
  description: "What is lacking to read a symbol's data; the tier is looked at first.",
  values: ['not_entitled_tier', 'attestation_required'] as const,
});

export const ChainPolicyType = builder.objectRef<ChainPolicy>('ChainPolicy').implement({
  description: "What of a symbol's expiries the option chain covers.",
  fields: (t) => ({
    windowDays: t.exposeInt('windowDays', { description: 'Days of expiries from today.' }),
    tenorFrame: t.expose('tenorFrame', { type: TenorFrameEnum, description: 'Spacing of the expiries.' }),
  }),
});

const SymbolAccessType = builder.objectRef<AccessAnswer>('SymbolAccess').implement({
  description: "Whether the caller may read a symbol's data.",
  fields: (t) => ({
    allowed: t.exposeBoolean('allowed', { description: 'Whether data of the symbol is served to this caller.' }),
    reason: t.expose('reason', {
      type: AccessRefusalEnum,
      nullable: true,
      description: 'What is lacking; null when nothing is.',
    }),
    requiredTier: t.expose('requiredTier', {
      type: TierEnum,
      nullable: true,
      description: 'The tier it would take; null unless the tier is what is lacking.',
    }),
  }),
});

/** The entry that registry facts are read from; 404 outside the registry. */
const registered = ({ symbol }: SymbolNode, context: RequestContext) => registeredSymbol(context, symbol);
/** The entry that a ticker's own facts are read from; 404 for a string that is no ticker anywhere. */
const known = ({ symbol }: SymbolNode, context: RequestContext) => realTicker(context, symbol);

/** `Symbol`, the centre of the graph. Other nouns add their edges in their own files. */
export const SymbolType = builder.objectRef<SymbolNode>('Symbol').implement({
  description:
    'A ticker. Registry facts are errors of code not_found for a ticker outside the registry; market data has its own rules per field.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker, uppercase.' }),
    registered: t.boolean({
      description:
        'Whether the symbol is in the registry. Other real tickers have a name, bars and quotes, and nothing computed.',
      resolve: ({ symbol }, _args, context) => isRegistered(context, symbol),
    }),
    name: t.string({
      nullable: true,
      description: 'Display name; an error of code not_found for a string that is no ticker.',
      resolve: async (node, _args, context) => (await known(node, context)).name,
    }),
    class: t.field({
      type: SymbolClassEnum,
      nullable: true,
      description: 'Equity or index; an error of code not_found for a string that is no ticker.',
      resolve: async (node, _args, context) => (await known(node, context)).class,
    }),
    sector: t.string({
      nullable: true,
      description: 'Sector of the screener; null when the sector map does not cover the symbol.',
      resolve: async (node, _args, context) => (await known(node, context)).sector,
    }),
    chainPolicy: t.field({
      type: ChainPolicyType,
      nullable: true,
      description: 'What of its expiries the option chain covers; registry only.',
      resolve: async (node, _args, context) => chainPolicy(await registered(node, context)),
    }),
    minTier: t.field({
      type: TierEnum,
      nullable: true,
      description: "Lowest tier that may read the symbol's data; registry only.",
      resolve: async (node, _args, context) => (await registered(node, context)).minTier,
    }),
    requiresAttestation: t.boolean({
      nullable: true,
      description: 'Whether a non-professional market-data declaration is required (index products); registry only.',
      resolve: async (node, _args, context) => (await registered(node, context)).requiresAttestation,
    }),
    access: t.field({
      type: SymbolAccessType,
      nullable: true,
      description: "Whether the caller may read the symbol's data; an error of code not_found for what is no ticker.",
      resolve: ({ symbol }, _args, context) => accessTo(context, symbol),
    }),
  }),
});

builder.queryField('symbol', (t) =>
  t.field({
    type: SymbolType,
    description: 'A ticker and everything known of it.',
    args: { symbol: t.arg({ type: 'Ticker', required: true, description: 'Ticker, in any case.' }) },
    extensions: { scopeGroup: 'market.reference' },
    resolve: (_root, { symbol }) => ({ symbol }),
  }),
);
