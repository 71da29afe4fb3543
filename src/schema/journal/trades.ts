import { journalAccount } from '../../resolvers/journal/accounts.ts';
import { type JournalPage, journalPageMax } from '../../resolvers/journal/page.ts';
import {
  createJournalTrade,
  type JournalTrade,
  journalTrades,
  patchJournalTrade,
  removeJournalTrade,
  replaceJournalTrade,
} from '../../resolvers/journal/trades.ts';
import { type ResponseMeta, responseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { costs, writing } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { PlainMetaType } from '../response-meta.ts';
import { DeletedFromJournal, JournalAccountType } from './accounts.ts';
import { JournalPageMeta, journalPageCost } from './page.ts';

const scopeGroup = 'journal';

const JournalTradeType = builder.objectRef<JournalTrade>('JournalTrade').implement({
  description: 'A trade of the journal.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id within the journal.' }),
    accountId: t.exposeID('journalAccountId', { description: 'Id of the journal account.' }),
    account: t.field({
      type: JournalAccountType,
      nullable: true,
      description: 'The journal account.',
      resolve: ({ journalAccountId }, _args, context) => journalAccount(context, journalAccountId),
    }),
    ticker: t.expose('symbol', { type: 'Ticker', description: 'Ticker, uppercase; any, registered or not.' }),
    symbol: t.field({
      type: SymbolType,
      description: 'The ticker as a node of the graph.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
    side: t.exposeString('side', {
      extensions: costs({ bytes: 6, isWritten: true }),
      description: 'buy, sell, or any other text.',
    }),
    qty: t.exposeFloat('qty', { description: 'Shares or contracts, above 0.' }),
    price: t.exposeFloat('price', { description: 'Dollars, 0 or more.' }),
    ts: t.expose('tsMs', { type: 'EpochMs', description: 'When it was made, epoch ms.' }),
    note: t.exposeString('note', {
      nullable: true,
      extensions: costs({ bytes: 100, isWritten: true }),
      description: 'Note; null = none.',
    }),
  }),
});

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
      limit: t.arg.int({ description: `Rows, at most ${journalPageMax}, which is the default.` }),
      cursor: t.arg.string({ description: 'meta.cursor of the page before.' }),
    },
    extensions: { scopeGroup, ...journalPageCost },
    resolve: (_root, args, context) => journalTrades(context, args),
  }),
);

const JournalTradeInput = builder.inputType('JournalTradeInput', {
  description: 'What a trade holds.',
  fields: (t) => ({
    accountId: t.id({ required: true, description: 'Id of the journal account; it is made when there is none.' }),
    symbol: t.field({ type: 'Ticker', required: true, description: 'Ticker in any case.' }),
    side: t.string({ required: true, description: 'buy, sell, or any other text.' }),
    qty: t.float({ required: true, description: 'Shares or contracts, above 0.' }),
    price: t.float({ required: true, description: 'Dollars, 0 or more.' }),
    ts: t.field({ type: 'PointInTime', description: 'When; read in New York without an offset; now when not sent.' }),
    note: t.string({ description: 'Note; null and empty = none.' }),
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
    description: 'A trade after a change.',
    fields: (t) => ({
      trade: t.expose('trade', { type: JournalTradeType, description: 'The trade as it is stored.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
    }),
  });

builder.mutationFields((t) => ({
  createJournalTrade: t.field({
    type: JournalTradePayload,
    nullable: true,
    description: 'Puts a trade into the journal.',
    args: {
      id: t.arg.id({ description: 'Id, chosen by the caller; one is given when not sent.' }),
      trade: t.arg({ type: JournalTradeInput, required: true, description: 'What it holds.' }),
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
    description: "Puts other fields in place of a trade's; not_found when there is none of that id.",
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      trade: t.arg({ type: JournalTradeInput, required: true, description: 'What it is to hold.' }),
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
    description: 'Changes some fields of a trade; not_found when there is none of that id.',
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      patch: t.arg({
        type: 'MergePatch',
        required: true,
        description: 'Of account_id, symbol, side, qty, price, ts and note.',
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
    description: 'Deletes a trade; not_found when there is none of that id.',
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id }, context) => ({
      deleted: await removeJournalTrade(context, id),
      meta: responseMeta(context, 'registry'),
    }),
  }),
}));
