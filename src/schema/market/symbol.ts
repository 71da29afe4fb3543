import type { SymbolClass, SymbolEntry, TenorFrame } from '../../core/domain/market/symbol.ts';
import { whenThere } from '../../platform/runtime/maybe-promise.ts';
import { type RequestContext, realTicker, registeredSymbol } from '../../resolvers/context.ts';
import {
  type AccessAnswer,
  accessTo,
  type ChainPolicy,
  chainPolicy,
  isRegistered,
} from '../../resolvers/market/symbol-access.ts';
import { builder } from '../builder.ts';
import { free } from '../cost.ts';
import { enumValues } from '../enum-values.ts';
import { byTicker, node } from '../node.ts';
import { TierEnum } from '../response-meta.ts';
import { marketField } from './as-of.ts';

/** A ticker as a node of the graph; its properties are looked up on demand. */
export interface SymbolNode {
  symbol: string;
}

export const SymbolClassEnum = builder.enumType('SymbolClass', {
  description: 'Kind of product of a symbol.',
  values: enumValues<SymbolClass>({ equity: 'A stock or a fund.', index: 'An index.' }),
});
const TenorFrameEnum = builder.enumType('TenorFrame', {
  description: 'Spacing of the expiries that a chain covers.',
  values: enumValues<TenorFrame>({
    daily: 'Expiries on every trading day.',
    weekly: 'Weekly expiries.',
    monthly: 'Monthly expiries.',
  }),
});
const AccessReasonEnum = builder.enumType('AccessRefusal', {
  description: "Why the caller cannot read a symbol's data. The tier is checked first.",
  values: enumValues<'not_entitled_tier' | 'attestation_required'>({
    not_entitled_tier: "The caller's tier is too low.",
    attestation_required: 'The non-professional market-data declaration is missing.',
  }),
});

export const ChainPolicyType = builder.objectRef<ChainPolicy>('ChainPolicy').implement({
  description: 'Expiries of a symbol that the option chain covers.',
  fields: (t) => ({
    windowDays: t.exposeInt('windowDays', { description: 'Expiries covered: the number of days from today.' }),
    tenorFrame: t.expose('tenorFrame', { type: TenorFrameEnum, description: 'Spacing of the expiries.' }),
  }),
});

node(
  ChainPolicyType,
  ({ symbol }) => symbol,
  byTicker((context, symbol) => whenThere(registeredSymbol(context, symbol), chainPolicy)),
);

const SymbolAccessType = builder.objectRef<AccessAnswer>('SymbolAccess').implement({
  description: "Access of the caller to a symbol's data.",
  fields: (t) => ({
    allowed: t.exposeBoolean('allowed', { description: "True if the caller may read the symbol's data." }),
    reason: t.expose('reason', {
      type: AccessReasonEnum,
      nullable: true,
      description: 'Why the caller may not; null if allowed.',
    }),
    requiredTier: t.expose('requiredTier', {
      type: TierEnum,
      nullable: true,
      description: "Tier required; null unless the caller's tier is too low.",
    }),
  }),
});

node(SymbolAccessType, ({ symbol }) => symbol, byTicker(accessTo));

type ReadEntry<T> = (entry: SymbolEntry) => T;

/** Resolves from the entry of a registered symbol; 404 if it is not registered. */
const registered =
  <T>(read: ReadEntry<T>) =>
  ({ symbol }: SymbolNode, _args: object, context: RequestContext) =>
    whenThere(registeredSymbol(context, symbol), read);
/** Resolves from the entry of any known ticker; 404 for text that is not a known ticker. */
const known =
  <T>(read: ReadEntry<T>) =>
  ({ symbol }: SymbolNode, _args: object, context: RequestContext) =>
    whenThere(realTicker(context, symbol), read);

/** `Symbol`, the centre of the graph. Other parts of the schema add their edges in their own files. */
export const SymbolType = builder.objectRef<SymbolNode>('Symbol').implement({
  description:
    'A symbol. Registry fields give not_found if the ticker is not registered. Market data has its own rules per field.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker, uppercase.' }),
    registered: t.boolean({
      description:
        'True if the symbol is registered. Other tickers have a name, bars and quotes, but no computed data.',
      scope: 'parent',
      price: free,
      resolve: ({ symbol }, _args, context) => isRegistered(context, symbol),
    }),
    name: t.string({
      nullable: true,
      description: 'Display name. not_found if the text is not a ticker.',
      scope: 'parent',
      price: free,
      resolve: known((entry) => entry.name),
    }),
    class: t.field({
      type: SymbolClassEnum,
      nullable: true,
      description: 'Equity or index. not_found if the text is not a ticker.',
      scope: 'parent',
      price: free,
      resolve: known((entry) => entry.class),
    }),
    sector: t.string({
      nullable: true,
      description: 'Sector of the screener; null if the sector map does not cover the symbol.',
      scope: 'parent',
      price: free,
      resolve: known((entry) => entry.sector),
    }),
    chainPolicy: t.field({
      type: ChainPolicyType,
      nullable: true,
      description: 'Expiries that the option chain covers. Registered symbols only.',
      scope: 'parent',
      price: free,
      resolve: registered(chainPolicy),
    }),
    minTier: t.field({
      type: TierEnum,
      nullable: true,
      description: "Lowest tier that may read the symbol's data. Registered symbols only.",
      scope: 'parent',
      price: free,
      resolve: registered((entry) => entry.minTier),
    }),
    requiresAttestation: t.boolean({
      nullable: true,
      description:
        'True if the symbol requires a non-professional market-data declaration (index products). Registered symbols only.',
      scope: 'parent',
      price: free,
      resolve: registered((entry) => entry.requiresAttestation),
    }),
    access: t.field({
      type: SymbolAccessType,
      nullable: true,
      description: "Access of the caller to the symbol's data. not_found if the text is not a ticker.",
      scope: 'parent',
      price: free,
      resolve: ({ symbol }, _args, context) => accessTo(context, symbol),
    }),
  }),
});

node(
  SymbolType,
  ({ symbol }) => symbol,
  byTicker((_context, symbol) => ({ symbol })),
);

marketField('symbol', (t) =>
  t.field({
    type: SymbolType,
    description: 'A symbol by its ticker.',
    args: { symbol: t.arg({ type: 'Ticker', required: true, description: 'Ticker, in any case.' }) },
    scope: 'market.reference',
    price: free,
    resolve: (_root, { symbol }) => ({ symbol }),
  }),
);
