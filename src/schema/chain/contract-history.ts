import { greekColumns } from '../../core/domain/chain/chain-columns.ts';
import {
  type ContractDay,
  type ContractHistory,
  type ContractHistoryMeta,
  contractHistory,
  historySessions,
} from '../../resolvers/chain/contract-history.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { metaOf } from '../meta-of.ts';
import { OptionContractType } from './contract.ts';

const ContractDayType = builder.objectRef<ContractDay>('ContractDay').implement({
  description: 'A contract in one session. Null = not stored or not known.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Exchange session.' }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description:
        'When the last chain of the session was captured, epoch ms: quotes, greeks and open interest are from it. Null if it does not list the contract.',
    }),
    spot: t.exposeFloat('spot', { nullable: true, description: 'Price of the underlying at that capture, dollars.' }),
    openInterest: t.expose('openInterest', {
      type: 'Long',
      nullable: true,
      description: 'Open interest, contracts, as of the prior close.',
    }),
    volume: t.expose('volume', {
      type: 'Long',
      nullable: true,
      description:
        'Contracts traded: of all prints of the session, late ones too; without a tape of its bars, else of the chain.',
    }),
    close: t.exposeFloat('close', {
      nullable: true,
      description: 'Last price of the bars of the session, else last trade of the chain, dollars a share.',
    }),
    bid: t.exposeFloat('bid', { nullable: true, description: 'Best bid at the capture, dollars a share.' }),
    ask: t.exposeFloat('ask', { nullable: true, description: 'Best ask at the capture, dollars a share.' }),
    ...columnFields(t, greekColumns, (text) => `${text} Solved if the chain was solved, else the source's.`),
  }),
});

const ContractHistoryMetaType = metaOf<ContractHistoryMeta>(
  'ContractHistoryMeta',
  'market',
  "Metadata of a contract's history.",
  (t) => ({
    from: t.expose('from', { type: 'SessionDate', description: 'First date that was read.' }),
    to: t.expose('to', { type: 'SessionDate', description: 'Last date requested.' }),
    count: t.exposeInt('count', { description: 'Number of sessions in the answer.' }),
    note: t.exposeString('note', { nullable: true, description: 'Why there are no sessions; null if there are any.' }),
  }),
);

const ContractHistoryType = builder.objectRef<ContractHistory>('ContractHistory').implement({
  description: 'A contract by session.',
  fields: (t) => ({
    contract: t.expose('contract', { type: OptionContractType, description: 'The contract.' }),
    days: t.expose('days', {
      type: [ContractDayType],
      size: { rows: 'page' },
      description: 'Sessions ascending. Sessions without stored data are absent.',
    }),
    meta: t.expose('meta', { type: ContractHistoryMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(OptionContractType, 'history', (t) =>
  t.field({
    type: ContractHistoryType,
    nullable: true,
    description: `Open interest, volume, close, volatility and greeks by session. At most ${historySessions.max} sessions; a larger window is cut to the latest and reported in meta.caps.applied.`,
    args: {
      from: t.arg({
        type: 'SessionDate',
        description: `First date, inclusive. Default: ${historySessions.default} sessions up to the last.`,
      }),
      to: t.arg({ type: 'SessionDate', description: 'Last date, inclusive. Default: today.' }),
    },
    scope: 'market.bars',
    price: {
      once: 2.5,
      each: ({ page }) => 0.25 + 0.01 * page,
      sizes: ({ from }) => ({ page: from == null ? historySessions.default : historySessions.max }),
    },
    resolve: (contract, args, context) => contractHistory(context, contract, args),
  }),
);
