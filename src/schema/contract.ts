import { contractId, type OptionContract, parseOptionContract } from '../domain/option-contract.ts';
import { underlyingOf } from '../domain/option-root.ts';
import { builder } from './builder.ts';
import { SymbolType } from './symbol.ts';

export const OptionRightEnum = builder.enumType('OptionRight', {
  description: 'The right an option gives.',
  values: ['call', 'put'] as const,
});

/** `OptionContract`. Other nouns add their edges in their own files. */
export const OptionContractType = builder.objectRef<OptionContract>('OptionContract').implement({
  description: 'One option contract.',
  fields: (t) => ({
    id: t.field({
      type: 'OptionContractId',
      description: 'O: and the OSI symbol, such as O:SPY241220C00600000.',
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
      description: "The ticker the root belongs to; its entitlement decides over the contract's data.",
      resolve: (contract) => ({ symbol: underlyingOf(contract.root) }),
    }),
  }),
});

builder.queryField('contract', (t) =>
  t.field({
    type: OptionContractType,
    nullable: true,
    description: 'An option contract and everything known of it.',
    args: {
      id: t.arg({ type: 'OptionContractId', required: true, description: 'O: and the OSI symbol, in any case.' }),
    },
    resolve: (_root, { id }) => parseOptionContract(id, 'contract'),
  }),
);
