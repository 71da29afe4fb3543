import { contractsPageMax, listedContracts } from '../../resolvers/chain/contract.ts';
import { builder } from '../builder.ts';
import { itemsAsked } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { OptionContractType, OptionRightEnum } from './contract.ts';

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
