import {
  contractId,
  type OptionContract,
  type OptionRight,
  readOptionContract,
} from '../../core/domain/chain/option-contract.ts';
import type { OptionRoot } from '../../core/domain/chain/option-root.ts';
import { whenThere } from '../../platform/runtime/maybe-promise.ts';
import { contractOf, contractsPageMax, listedContracts } from '../../resolvers/chain/contract.ts';
import { type RequestContext, rootsOf, underlyingOf } from '../../resolvers/context.ts';
import { builder } from '../builder.ts';
import { free, itemsAsked } from '../cost.ts';
import { enumValues } from '../enum-values.ts';
import { marketField } from '../market/as-of.ts';
import { SymbolType } from '../market/symbol.ts';
import { refetchable } from '../node.ts';

export const OptionRightEnum = builder.enumType('OptionRight', {
  description: 'The right of an option.',
  values: enumValues<OptionRight>({ call: 'The right to buy.', put: 'The right to sell.' }),
});

const ExerciseStyleEnum = builder.enumType('ExerciseStyle', {
  description: 'When an option can be exercised: at expiry only (european) or at any time (american).',
  values: enumValues<'european' | 'american'>({ european: 'At expiry only.', american: 'At any time until expiry.' }),
});
const SettlementEnum = builder.enumType('Settlement', {
  description: 'When an option settles on its expiry date: at the open (am) or at the close (pm).',
  values: enumValues<'am' | 'pm'>({
    am: 'At the open of the expiry date.',
    pm: 'At the close of the expiry date.',
  }),
});

/** Resolves a property of the contract's root. */
const ofRoot =
  <Name extends keyof OptionRoot>(name: Name) =>
  ({ root }: OptionContract, _args: object, context: RequestContext) =>
    whenThere(rootsOf(context), (roots) => roots.of(root)[name]);

/** `OptionContract`. Other parts of the schema add their edges in their own files. */
export const OptionContractType = builder.objectRef<OptionContract>('OptionContract').implement({
  description: 'One option contract.',
  fields: (t) => ({
    id: t.field({
      type: 'OptionContractId',
      description: 'Contract id: O: and the OSI symbol, such as O:SPY241220C00600000.',
      resolve: contractId,
    }),
    root: t.exposeString('root', {
      description: 'OSI root, which may differ from the ticker (SPXW belongs to SPX). REST calls it underlying.',
    }),
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiration date.' }),
    right: t.expose('right', { type: OptionRightEnum, description: 'Call or put.' }),
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
    underlying: t.field({
      type: SymbolType,
      description: "The symbol the root belongs to. The contract's data requires entitlement to this symbol.",
      scope: 'parent',
      price: free,
      resolve: (contract, _args, context) => whenThere(underlyingOf(context, contract), (symbol) => ({ symbol })),
    }),
    style: t.field({
      type: ExerciseStyleEnum,
      description: 'European or American exercise.',
      scope: 'parent',
      price: free,
      resolve: ofRoot('style'),
    }),
    settlement: t.field({
      type: SettlementEnum,
      description: 'Time of settlement: the open (am) or the close (pm) of the expiry date.',
      scope: 'parent',
      price: free,
      resolve: ofRoot('settlement'),
    }),
    multiplier: t.int({
      description: 'Shares (or index units) per contract that premiums and exposures assume.',
      scope: 'parent',
      price: free,
      resolve: ofRoot('multiplier'),
    }),
  }),
});

refetchable(
  OptionContractType,
  contractId,
  (id) => {
    const contract = readOptionContract(id);
    return contract && contractId(contract) === id ? { read: (context) => contractOf(context, id) } : null;
  },
  'market.reference',
);

marketField('contract', (t) =>
  t.field({
    type: OptionContractType,
    nullable: true,
    description: 'An option contract. not_found if its underlying is not registered.',
    args: {
      id: t.arg({
        type: 'OptionContractId',
        required: true,
        description: 'Contract id: O: and the OSI symbol, in any case.',
      }),
    },
    scope: 'market.reference',
    price: free,
    resolve: (_root, { id }, context) => contractOf(context, id),
  }),
);

const ContractConnectionType = builder.connectionObject(
  {
    type: OptionContractType,
    name: 'OptionContractConnection',
    description: 'A page of option contracts, by expiry, strike, call before put.',
    fields: (t) => ({ totalCount: t.exposeInt('totalCount', { description: 'Number of contracts over all pages.' }) }),
  },
  { description: 'A contract and its cursor.', nodeField: { description: 'The contract.' } },
);

builder.objectField(SymbolType, 'contracts', (t) =>
  t.field({
    type: ContractConnectionType,
    nullable: true,
    scope: 'market.reference',
    needs: 'symbol',
    price: {
      once: 1.2,
      each: ({ page }) => 0.1 + 0.005 * page,
      sizes: ({ first }) => ({ page: itemsAsked(first, contractsPageMax) }),
    },
    description: 'Option contracts of the latest chain.',
    args: {
      first: t.arg.int({
        required: true,
        description: `Contracts per page, at most ${contractsPageMax}; a larger value is clamped.`,
      }),
      after: t.arg.string({
        description: 'pageInfo.endCursor of the previous page. Leave the other arguments unchanged.',
      }),
      expiry: t.arg({ type: 'SessionDate', description: 'Only this expiry.' }),
      right: t.arg({ type: OptionRightEnum, description: 'Only calls or only puts.' }),
      strikeGte: t.arg({ type: 'StrikeThousandths', description: 'Lowest strike, inclusive.' }),
      strikeLte: t.arg({ type: 'StrikeThousandths', description: 'Highest strike, inclusive.' }),
    },
    resolve: ({ symbol }, args, context) => listedContracts(context, symbol, args),
  }),
);
