import type { OptionContract } from '../../domain/chain/option-contract.ts';
import { type ContractsPage, contractsPageMax, listedContracts } from '../../resolvers/chain/contract.ts';
import { builder } from '../builder.ts';
import { costs, itemsAsked } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { PageInfoType } from '../market/symbol-connection.ts';
import { OptionContractType, OptionRightEnum } from './contract.ts';

const ContractEdgeType = builder.objectRef<{ cursor: string; node: OptionContract }>('OptionContractEdge').implement({
  description: 'A contract and its cursor.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'Cursor; send it as after to continue after this contract.' }),
    node: t.field({ type: OptionContractType, description: 'The contract.', resolve: (edge) => edge.node }),
  }),
});

const ContractConnectionType = builder.objectRef<ContractsPage>('OptionContractConnection').implement({
  description: 'A page of option contracts, by expiry, strike, call before put.',
  fields: (t) => ({
    nodes: t.field({
      type: [OptionContractType],
      extensions: costs({ rows: 'page' }),
      description: 'The contracts of the page.',
      resolve: (page) => page.nodes,
    }),
    edges: t.field({
      type: [ContractEdgeType],
      extensions: costs({ rows: 'page' }),
      description: 'The same contracts with their cursors.',
      resolve: (page) => page.edges,
    }),
    pageInfo: t.field({
      type: PageInfoType,
      description: 'Position of the page in the list.',
      resolve: (page) => page.pageInfo,
    }),
    totalCount: t.exposeInt('totalCount', { description: 'Number of contracts over all pages.' }),
  }),
});

builder.objectField(SymbolType, 'contracts', (t) =>
  t.field({
    type: ContractConnectionType,
    nullable: true,
    extensions: {
      scopeGroup: 'market.reference',
      ...costs<{ first: number }>({
        once: 1.2,
        each: ({ page }) => 0.1 + 0.005 * page,
        sizes: ({ first }) => ({ page: itemsAsked(first, contractsPageMax) }),
      }),
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
