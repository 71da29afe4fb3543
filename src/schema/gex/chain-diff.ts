import { sourceColumns } from '../../core/domain/chain/chain-columns.ts';
import type { RowOf } from '../../core/domain/columns.ts';
import { type ChainDiff, type ContractPair, chainDiff, movedNumbers } from '../../resolvers/chain/chain-diff.ts';
import { builder } from '../builder.ts';
import { ChainRowType } from '../chain/chain.ts';
import { OptionContractType } from '../chain/contract.ts';
import { columnFields } from '../column-fields.ts';
import { contractsOfExpiry } from '../cost.ts';
import { comparedArgs } from '../instant-args.ts';
import { SymbolType } from '../market/symbol.ts';
import { PlainMetaType } from '../response-meta.ts';
import { capturePoint } from './capture.ts';

const ContractMovesType = builder.objectRef<RowOf<typeof sourceColumns>>('ContractMoves').implement({
  description: "Changes of a contract's numbers: the later less the earlier. Null if one of them is unknown.",
  fields: (t) =>
    columnFields(t, sourceColumns, (text) => `Later less earlier: ${text[0]!.toLowerCase()}${text.slice(1)}`),
});

const ContractPairType = builder.objectRef<ContractPair>('ContractPair').implement({
  description: 'A contract in two chains.',
  fields: (t) => ({
    contract: t.field({
      type: OptionContractType,
      description: 'The contract.',
      resolve: ({ from, to }) => (to ?? from)!,
    }),
    from: t.expose('from', {
      type: ChainRowType,
      nullable: true,
      description: 'Its row in the earlier chain; null if it is not listed there.',
    }),
    to: t.expose('to', {
      type: ChainRowType,
      nullable: true,
      description: 'Its row in the later chain; null if it is not listed there.',
    }),
    moved: t.field({
      type: ContractMovesType,
      price: { each: 0.002 },
      description: 'Changes of its numbers.',
      resolve: movedNumbers,
    }),
  }),
});

const ChainDiffType = builder.objectRef<ChainDiff>('ChainDiff').implement({
  description: 'Two option chains of a symbol, contract by contract.',
  fields: (t) => ({
    fromCapturedAt: t.expose('fromCapturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the earlier chain was captured, epoch ms; null if there is none.',
    }),
    toCapturedAt: t.expose('toCapturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the later chain was captured, epoch ms; null if there is none.',
    }),
    rows: t.expose('rows', {
      type: [ContractPairType],
      size: { rows: 'contracts' },
      description:
        'Contracts of either chain by expiry, strike, call before put. Empty if one of the chains is missing.',
    }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
  }),
});

const point = (which: string) =>
  `The ${which} chain: the id of its GEX capture, or a time or date. Times mean the last chain at or before them, a bare date that session's last.`;

builder.objectField(SymbolType, 'chainDiff', (t) =>
  t.field({
    type: ChainDiffType,
    nullable: true,
    scope: 'market.live',
    price: {
      once: 2,
      each: 5,
      sizes: ({ expiry }) => (expiry == null ? {} : { contracts: contractsOfExpiry }),
    },
    description: 'Two option chains, contract by contract. invalid_params if from is after to.',
    args: {
      ...comparedArgs(point('earlier'), point('later')),
      expiry: t.arg({ type: 'SessionDate', description: 'Only this expiry.' }),
      strikeGte: t.arg({ type: 'StrikeThousandths', description: 'Lowest strike, inclusive.' }),
      strikeLte: t.arg({ type: 'StrikeThousandths', description: 'Highest strike, inclusive.' }),
      changed: t.arg.boolean({
        defaultValue: false,
        description: 'Only contracts that one chain lacks, or whose open interest or volume changed.',
      }),
    },
    resolve: ({ symbol }, { from, to, ...args }, context) =>
      chainDiff(context, symbol, { ...args, from: capturePoint(from), to: capturePoint(to) }),
  }),
);
