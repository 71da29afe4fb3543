import { journalAccount } from '../../resolvers/journal/accounts.ts';
import { type JournalPage, journalPageMax } from '../../resolvers/journal/page.ts';
import {
  createJournalTrade,
  type JournalTrade,
  journalTrade,
  journalTrades,
  patchJournalTrade,
  removeJournalTrade,
  replaceJournalTrade,
} from '../../resolvers/journal/trades.ts';
import { type ResponseMeta, responseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { costs, writing } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { byOwnId, refetchable } from '../node.ts';
import { PlainMetaType } from '../response-meta.ts';
import { DeletedFromJournal, JournalAccountType } from './accounts.ts';
import { JournalPageMeta, journalPageCost } from './page.ts';

const scopeGroup = 'journal';

const JournalTradeType = builder.objectRef<JournalTrade>('JournalTrade').implement({
  description: 'A trade in the journal.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id within the journal.' }),
    accountId: t.exposeID('journalAccountId', { description: 'Id of the journal account.' }),
    account: t.field({
      type: JournalAccountType,
      nullable: true,
      description: 'The journal account.',
      extensions: costs({ once: 1, each: 0.02 }),
      resolve: ({ journalAccountId }, _args, context) => journalAccount(context, journalAccountId),
    }),
    ticker: t.expose('symbol', { type: 'Ticker', description: 'Ticker, uppercase. It need not be registered.' }),
    symbol: t.field({
      type: SymbolType,
      description: 'The symbol and its fields.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
    side: t.exposeString('side', {
      extensions: costs({ bytes: 6, isWritten: true }),
      description: 'buy, sell, or any other text.',
    }),
    qty: t.exposeFloat('qty', { description: 'Shares or contracts, above 0.' }),
    price: t.exposeFloat('price', { description: 'Dollars, 0 or more.' }),
    ts: t.expose('tsMs', { type: 'EpochMs', description: 'Trade time, epoch ms.' }),
    note: t.exposeString('note', {
      nullable: true,
      extensions: costs({ bytes: 100, isWritten: true }),
      description: 'Free text; null = none.',
    }),
  }),
});

/** Points of reading one trade. */
const tradePoints = 1.5;

refetchable(JournalTradeType, ({ id }) => id, byOwnId(journalTrade, tradePoints), scopeGroup);

const JournalTradesType = builder.objectRef<JournalPage<JournalTrade>>('JournalTrades').implement({
  description: 'A page of trades.',
  fields: (t) => ({
    rows: t.expose('rows', {
      type: [JournalTradeType],
      extensions: costs({ rows: 'page' }),
      description: 'Latest first.',
    }),
    meta: t.expose('meta', { type: JournalPageMeta, description: 'Metadata of the page.' }),
  }),
});

builder.queryField('journalTrades', (t) =>
  t.field({
    type: JournalTradesType,
    nullable: true,
    description: "Trades of the caller's journal, latest first.",
    args: {
      limit: t.arg.int({ description: `Rows per page. Default and maximum: ${journalPageMax}.` }),
      cursor: t.arg.string({ description: 'meta.cursor of the previous page.' }),
    },
    extensions: { scopeGroup, ...journalPageCost },
    resolve: (_root, args, context) => journalTrades(context, args),
  }),
);

const JournalTradeInput = builder.inputType('JournalTradeInput', {
  description: 'Fields of a trade.',
  fields: (t) => ({
    accountId: t.id({
      required: true,
      description: 'Id of the journal account. The account is created if it does not exist.',
    }),
    symbol: t.field({ type: 'Ticker', required: true, description: 'Ticker in any case.' }),
    side: t.string({ required: true, description: 'buy, sell, or any other text.' }),
    qty: t.float({ required: true, description: 'Shares or contracts, above 0.' }),
    price: t.float({ required: true, description: 'Dollars, 0 or more.' }),
    ts: t.field({
      type: 'PointInTime',
      description: 'Trade time; New York time if it has no offset. The default is the current time.',
    }),
    note: t.string({ description: 'Free text; null or empty = none.' }),
  }),
});

/** The input's fields by the names they have on the wire. */
function wireFields(input: typeof JournalTradeInput.$inferInput): Record<string, unknown> {
  const { accountId, ...rest } = input;
  return { ...rest, account_id: accountId };
}

const JournalTradePayload = builder
  .objectRef<{ trade: JournalTrade; meta: ResponseMeta }>('JournalTradePayload')
  .implement({
    description: 'The trade after a change.',
    fields: (t) => ({
      trade: t.expose('trade', { type: JournalTradeType, description: 'The stored trade.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

builder.mutationFields((t) => ({
  createJournalTrade: t.field({
    type: JournalTradePayload,
    nullable: true,
    description: 'Creates a trade in the journal.',
    args: {
      id: t.arg.id({ description: 'Id chosen by the caller. Generated if not sent.' }),
      trade: t.arg({ type: JournalTradeInput, required: true, description: 'The fields.' }),
    },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id, trade }, context) => ({
      trade: await createJournalTrade(context, { ...wireFields(trade), id }),
      meta: responseMeta(context, 'registry'),
    }),
  }),
  replaceJournalTrade: t.field({
    type: JournalTradePayload,
    nullable: true,
    description: 'Replaces all fields of a trade, or creates it with this id.',
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      trade: t.arg({ type: JournalTradeInput, required: true, description: 'The new fields.' }),
    },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id, trade }, context) => ({
      trade: await replaceJournalTrade(context, id, wireFields(trade)),
      meta: responseMeta(context, 'registry'),
    }),
  }),
  patchJournalTrade: t.field({
    type: JournalTradePayload,
    nullable: true,
    description: 'Updates a trade. not_found if the id is unknown.',
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      patch: t.arg({
        type: 'MergePatch',
        required: true,
        description: 'Fields: account_id, symbol, side, qty, price, ts, note.',
      }),
    },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id, patch }, context) => ({
      trade: await patchJournalTrade(context, id, patch),
      meta: responseMeta(context, 'registry'),
    }),
  }),
  deleteJournalTrade: t.field({
    type: DeletedFromJournal,
    nullable: true,
    description: 'Deletes a trade. not_found if the id is unknown.',
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id }, context) => ({
      deleted: await removeJournalTrade(context, id),
      meta: responseMeta(context, 'registry'),
    }),
  }),
}));
