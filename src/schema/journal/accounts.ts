import {
  createJournalAccount,
  type JournalAccount,
  journalAccount,
  journalAccounts,
  patchJournalAccount,
  removeJournalAccount,
  replaceJournalAccount,
} from '../../resolvers/journal/accounts.ts';
import { type JournalPage, journalPageMax } from '../../resolvers/journal/page.ts';
import { type ResponseMeta, responseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { costs, writing } from '../cost.ts';
import { byOwnId, refetchable } from '../node.ts';
import { PlainMetaType } from '../response-meta.ts';
import { JournalPageMeta, journalPageCost } from './page.ts';

const scopeGroup = 'journal';

/** An account of the journal. */
export const JournalAccountType = builder.objectRef<JournalAccount>('JournalAccount').implement({
  description: 'An account of the journal, such as one at a broker.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id within the journal.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    broker: t.exposeString('broker', {
      nullable: true,
      extensions: costs({ isWritten: true }),
      description: 'Broker; null = not given.',
    }),
  }),
});

/** Points of reading one account. */
const accountPoints = 1.5;

refetchable(JournalAccountType, ({ id }) => id, byOwnId(journalAccount, accountPoints), scopeGroup);

const JournalAccountsType = builder.objectRef<JournalPage<JournalAccount>>('JournalAccounts').implement({
  description: 'A page of journal accounts.',
  fields: (t) => ({
    rows: t.expose('rows', {
      type: [JournalAccountType],
      extensions: costs({ rows: 'page' }),
      description: 'Ascending by id.',
    }),
    meta: t.expose('meta', { type: JournalPageMeta, description: 'Metadata of the page.' }),
  }),
});

builder.queryFields((t) => ({
  journalAccounts: t.field({
    type: JournalAccountsType,
    nullable: true,
    description: "Accounts of the caller's journal, ascending by id.",
    args: {
      limit: t.arg.int({ description: `Rows per page. Default and maximum: ${journalPageMax}.` }),
      cursor: t.arg.string({ description: 'meta.cursor of the previous page.' }),
    },
    extensions: { scopeGroup, ...journalPageCost },
    resolve: (_root, args, context) => journalAccounts(context, args),
  }),
  journalAccount: t.field({
    type: JournalAccountType,
    nullable: true,
    description: "An account of the caller's journal; null if the id is unknown.",
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    extensions: { scopeGroup, ...costs({ once: accountPoints }) },
    resolve: (_root, { id }, context) => journalAccount(context, id),
  }),
}));

const JournalAccountInput = builder.inputType('JournalAccountInput', {
  description: 'Fields of a journal account.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Display name, not empty.' }),
    broker: t.string({ description: 'Broker; null or empty = not given.' }),
  }),
});

const JournalAccountPayload = builder
  .objectRef<{ account: JournalAccount; meta: ResponseMeta }>('JournalAccountPayload')
  .implement({
    description: 'The journal account after a change.',
    fields: (t) => ({
      account: t.expose('account', { type: JournalAccountType, description: 'The stored account.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

/** Record of something of the journal that was deleted; shared with trades. */
export const DeletedFromJournal = builder
  .objectRef<{ deleted: string; meta: ResponseMeta }>('DeletedFromJournal')
  .implement({
    description: 'Result of deleting a journal entry.',
    fields: (t) => ({
      deleted: t.exposeID('deleted', { description: 'Id of the deleted entry.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

builder.mutationFields((t) => ({
  createJournalAccount: t.field({
    type: JournalAccountPayload,
    nullable: true,
    description: 'Creates a journal account.',
    args: {
      id: t.arg.id({ description: 'Id chosen by the caller. Generated if not sent.' }),
      account: t.arg({ type: JournalAccountInput, required: true, description: 'The fields.' }),
    },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id, account }, context) => ({
      account: await createJournalAccount(context, { ...account, id }),
      meta: responseMeta(context, 'registry'),
    }),
  }),
  replaceJournalAccount: t.field({
    type: JournalAccountPayload,
    nullable: true,
    description: 'Replaces all fields of a journal account, or creates it with this id.',
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      account: t.arg({ type: JournalAccountInput, required: true, description: 'The new fields.' }),
    },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id, account }, context) => ({
      account: await replaceJournalAccount(context, id, { ...account }),
      meta: responseMeta(context, 'registry'),
    }),
  }),
  patchJournalAccount: t.field({
    type: JournalAccountPayload,
    nullable: true,
    description: 'Updates a journal account. not_found if the id is unknown.',
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      patch: t.arg({ type: 'MergePatch', required: true, description: 'Fields: name, broker.' }),
    },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id, patch }, context) => ({
      account: await patchJournalAccount(context, id, patch),
      meta: responseMeta(context, 'registry'),
    }),
  }),
  deleteJournalAccount: t.field({
    type: DeletedFromJournal,
    nullable: true,
    description: 'Deletes a journal account. Fails while the account has trades.',
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id }, context) => ({
      deleted: await removeJournalAccount(context, id),
      meta: responseMeta(context, 'registry'),
    }),
  }),
}));
