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
import { PlainMetaType } from '../response-meta.ts';
import { JournalPageMeta, journalPageCost } from './page.ts';

const scopeGroup = 'journal';

/** An account of the journal. */
export const JournalAccountType = builder.objectRef<JournalAccount>('JournalAccount').implement({
  description: 'An account of the journal: where trades were made.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id within the journal.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    broker: t.exposeString('broker', {
      nullable: true,
      extensions: costs({ isWritten: true }),
      description: 'Broker; null = not told.',
    }),
  }),
});

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
      limit: t.arg.int({ description: `Rows, at most ${journalPageMax}, which is the default.` }),
      cursor: t.arg.string({ description: 'meta.cursor of the page before.' }),
    },
    extensions: { scopeGroup, ...journalPageCost },
    resolve: (_root, args, context) => journalAccounts(context, args),
  }),
  journalAccount: t.field({
    type: JournalAccountType,
    nullable: true,
    description: "An account of the caller's journal; null when there is none of that id.",
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    extensions: { scopeGroup, ...costs({ once: 1.5 }) },
    resolve: (_root, { id }, context) => journalAccount(context, id),
  }),
}));

const JournalAccountInput = builder.inputType('JournalAccountInput', {
  description: 'What a journal account holds.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Display name, not empty.' }),
    broker: t.string({ description: 'Broker; null and empty = not told.' }),
  }),
});

const JournalAccountPayload = builder
  .objectRef<{ account: JournalAccount; meta: ResponseMeta }>('JournalAccountPayload')
  .implement({
    description: 'A journal account after a change.',
    fields: (t) => ({
      account: t.expose('account', { type: JournalAccountType, description: 'The account as it is stored.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
    }),
  });

/** What is left of something of the journal that was deleted; shared with trades. */
export const DeletedFromJournal = builder
  .objectRef<{ deleted: string; meta: ResponseMeta }>('DeletedFromJournal')
  .implement({
    description: 'The journal after deleting something of it.',
    fields: (t) => ({
      deleted: t.exposeID('deleted', { description: 'Id of what was deleted.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
    }),
  });

builder.mutationFields((t) => ({
  createJournalAccount: t.field({
    type: JournalAccountPayload,
    nullable: true,
    description: 'Makes a journal account.',
    args: {
      id: t.arg.id({ description: 'Id, chosen by the caller; one is given when not sent.' }),
      account: t.arg({ type: JournalAccountInput, required: true, description: 'What it holds.' }),
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
    description: "Puts other fields in place of a journal account's; not_found when there is none of that id.",
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      account: t.arg({ type: JournalAccountInput, required: true, description: 'What it is to hold.' }),
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
    description: 'Changes some fields of a journal account; not_found when there is none of that id.',
    args: {
      id: t.arg.id({ required: true, description: 'Id within the journal.' }),
      patch: t.arg({ type: 'MergePatch', required: true, description: 'Of name and broker.' }),
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
    description: 'Deletes a journal account; refused while it holds trades.',
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    extensions: { scopeGroup, ...costs(writing) },
    resolve: async (_root, { id }, context) => ({
      deleted: await removeJournalAccount(context, id),
      meta: responseMeta(context, 'registry'),
    }),
  }),
}));
