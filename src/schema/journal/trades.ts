import { contractIn } from '../../core/domain/journal.ts';
import { whenThere } from '../../platform/runtime/maybe-promise.ts';
import { type JournalTrade, journalAccounts, journalTrades } from '../../resolvers/journal/records.ts';
import { type TradeMarket, tickerOf, tradeMarket } from '../../resolvers/journal/trade-market.ts';
import { builder } from '../builder.ts';
import { OptionContractType } from '../chain/contract.ts';
import { free } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { addRecords, JournalAccountType } from './records.ts';
import { TradeMarketType } from './trade-market.ts';

const JournalTradeType = builder.objectRef<JournalTrade>('JournalTrade').implement({
  description: 'A trade in the journal.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id within the journal.' }),
    accountId: t.exposeID('journalAccountId', { description: 'Id of the journal account.' }),
    account: t.field({
      type: JournalAccountType,
      nullable: true,
      description: 'The journal account.',
      scope: 'parent',
      price: { once: 1, each: 0.02 },
      resolve: ({ journalAccountId }, _args, context) => journalAccounts.find(context, journalAccountId),
    }),
    instrument: t.expose('symbol', {
      type: 'Instrument',
      description: 'Ticker, or contract id. It need not be registered.',
    }),
    ticker: t.field({
      type: 'Ticker',
      description: 'Ticker, uppercase; for a contract, that of its underlying. It need not be registered.',
      scope: 'parent',
      price: free,
      resolve: (trade, _args, context) => tickerOf(context, trade),
    }),
    symbol: t.field({
      type: SymbolType,
      description: 'The symbol and its fields; for a contract, its underlying.',
      scope: 'parent',
      price: free,
      resolve: (trade, _args, context) => whenThere(tickerOf(context, trade), (symbol) => ({ symbol })),
    }),
    contract: t.field({
      type: OptionContractType,
      nullable: true,
      description: 'The contract; null for a trade of shares.',
      resolve: ({ symbol }) => contractIn(symbol),
    }),
    market: t.field({
      type: TradeMarketType,
      description: 'The market at the fill: nothing later is read.',
      scope: 'parent',
      price: { each: 0.05 },
      extensions: { contextBelow: ({ context }: TradeMarket) => context },
      resolve: (trade, _args, context) => tradeMarket(context, trade),
    }),
    side: t.exposeString('side', {
      size: { bytes: 6, isWritten: true },
      description: 'buy, sell, or any other text.',
    }),
    qty: t.exposeFloat('qty', { description: 'Shares or contracts, above 0.' }),
    price: t.exposeFloat('price', { description: 'Dollars, 0 or more.' }),
    ts: t.expose('tsMs', { type: 'EpochMs', description: 'Trade time, epoch ms.' }),
    note: t.exposeString('note', {
      nullable: true,
      size: { bytes: 100, isWritten: true },
      description: 'Free text; null = none.',
    }),
  }),
});

const fieldsOf = (required: boolean) =>
  builder.inputType(required ? 'JournalTradeInput' : 'JournalTradePatch', {
    description: required ? 'Fields of a trade.' : 'Fields of a trade to change.',
    fields: (t) => ({
      accountId: t.id({
        required,
        description: 'Id of the journal account. The account is created if it does not exist.',
      }),
      symbol: t.field({ type: 'Instrument', required, description: 'Ticker, or contract id, in any case.' }),
      side: t.string({ required, description: 'buy, sell, or any other text.' }),
      qty: t.float({ required, description: 'Shares or contracts, above 0.' }),
      price: t.float({ required, description: 'Dollars, 0 or more.' }),
      ts: t.field({
        type: 'PointInTime',
        description: `Trade time; New York time if it has no offset. ${required ? 'The default is' : 'null ='} the current time.`,
      }),
      note: t.string({ description: 'Free text; null or empty = none.' }),
    }),
  });

addRecords({
  type: JournalTradeType,
  records: journalTrades,
  field: 'trade',
  noun: { one: 'trade', many: 'trades' },
  input: fieldsOf(true),
  patch: fieldsOf(false),
  describe: {
    list: "Trades of the caller's journal, latest first.",
    order: 'Latest first',
    create: 'Creates a trade in the journal.',
    remove: 'Deletes a trade. not_found if the id is unknown.',
  },
});
