import type { InputObjectRef, ObjectRef } from '@pothos/core';
import type { SentFields } from '../../core/domain/journal.ts';
import type { RequestContext } from '../../resolvers/context.ts';
import {
  type JournalAccount,
  type JournalPage,
  type JournalRecords,
  journalAccounts,
  journalPageMax,
} from '../../resolvers/journal/records.ts';
import { type ResponseMeta, responseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { type FieldCost, itemsAsked, writing } from '../cost.ts';
import { metaOf } from '../meta-of.ts';
import { byOwnId, refetchable } from '../node.ts';
import { PlainMetaType } from '../response-meta.ts';

/** The scope group of the journal. */
export const scopeGroup = 'journal';

/** Points of reading one record by its id. */
const recordPoints = 1.5;

type Types = typeof builder.$inferSchemaTypes;
type Input = InputObjectRef<Types, SentFields>;
type Payload<T> = ObjectRef<Types, { record: T; meta: ResponseMeta }>;

const ownId = { required: true, description: 'Id within the journal.' } as const;

/** A kind of journal records in the graph. */
interface RecordInGraph<T extends { id: string }> {
  type: ObjectRef<Types, T>;
  records: JournalRecords<T>;
  /** Its argument and field in mutations, such as `trade`. */
  field: string;
  /** Singular and plural for descriptions: `trade`, `trades`. */
  noun: { one: string; many: string };
  input: Input;
  /** The same fields, each optional. */
  patch: Input;
  /** Descriptions of its list's order, and of the mutations that differ. */
  describe: { list: string; order: string; create: string; remove: string };
}

const DeletedFromJournal = builder.objectRef<{ deleted: string; meta: ResponseMeta }>('DeletedFromJournal').implement({
  description: 'Result of deleting a journal entry.',
  fields: (t) => ({
    deleted: t.exposeID('deleted', { description: 'Id of the deleted entry.' }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
  }),
});

function addQueries<T extends { id: string }>({ type, records, noun, describe }: RecordInGraph<T>): void {
  refetchable(type, ({ id }) => id, byOwnId(records.find.bind(records), recordPoints), scopeGroup);
  const page = builder.objectRef<JournalPage<T>>(`${type.name}s`).implement({
    description: `A page of ${noun.many}.`,
    fields: (t) => ({
      rows: t.field({
        type: [type],
        size: { rows: 'page' },
        description: `${describe.order}.`,
        resolve: ({ rows }) => rows as never,
      }),
      meta: t.expose('meta', { type: JournalPageMeta, description: 'Metadata of the page.' }),
    }),
  });
  builder.queryField(`j${type.name.slice(1)}s`, (t) =>
    t.field({
      type: page,
      nullable: true,
      description: describe.list,
      args: {
        limit: t.arg.int({ description: `Rows per page. Default and maximum: ${journalPageMax}.` }),
        cursor: t.arg.string({ description: 'meta.cursor of the previous page.' }),
      },
      scope: scopeGroup,
      price: journalPageCost,
      resolve: (_root, args, context) => records.page(context, args),
    }),
  );
}

function payloadOf<T extends { id: string }>({ type, field, noun }: RecordInGraph<T>) {
  return builder.objectRef<{ record: T; meta: ResponseMeta }>(`${type.name}Payload`).implement({
    description: `The ${noun.one} after a change.`,
    fields: (t) => ({
      [field]: t.field({ type, description: `The stored ${field}.`, resolve: ({ record }) => record as never }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });
}

/** `meta` of a change's answer. */
const changed = (context: RequestContext) => ({ meta: responseMeta(context, 'registry') });

/** The mutations with all fields: they create a record, or replace it. */
function addWholeMutations<T extends { id: string }>(kind: RecordInGraph<T>, payload: Payload<T>): void {
  const { type, records, field, noun, input, describe } = kind;
  const result = { type: payload, nullable: true, price: writing } as const;
  builder.mutationField(`create${type.name}`, (t) =>
    t.field({
      ...result,
      scope: scopeGroup,
      description: describe.create,
      args: {
        id: t.arg.id({ description: 'Id chosen by the caller. Generated if not sent.' }),
        [field]: t.arg({ type: input, required: true, description: 'The fields.' }),
      },
      resolve: async (_root, { id, [field]: sent }, context) => ({
        record: await records.create(context, { ...(sent as SentFields), id }),
        ...changed(context),
      }),
    }),
  );
  builder.mutationField(`replace${type.name}`, (t) =>
    t.field({
      ...result,
      scope: scopeGroup,
      description: `Replaces all fields of a ${noun.one}, or creates it with this id.`,
      args: {
        id: t.arg.id(ownId),
        [field]: t.arg({ type: input, required: true, description: 'The new fields.' }),
      },
      resolve: async (_root, { id, [field]: sent }, context) => ({
        record: await records.replace(context, id as string, sent as SentFields),
        ...changed(context),
      }),
    }),
  );
}

/** The mutations of an existing record: they change some of its fields, or delete it. */
function addChangeMutations<T extends { id: string }>(kind: RecordInGraph<T>, payload: Payload<T>): void {
  const { type, records, noun, patch, describe } = kind;
  builder.mutationField(`patch${type.name}`, (t) =>
    t.field({
      type: payload,
      nullable: true,
      scope: scopeGroup,
      price: writing,
      description: `Updates a ${noun.one}. not_found if the id is unknown.`,
      args: {
        id: t.arg.id(ownId),
        patch: t.arg({ type: patch, required: true, description: 'The fields to change; null clears a field.' }),
      },
      resolve: async (_root, args, context) => ({
        record: await records.patch(context, args.id, args.patch),
        ...changed(context),
      }),
    }),
  );
  builder.mutationField(`delete${type.name}`, (t) =>
    t.field({
      type: DeletedFromJournal,
      nullable: true,
      scope: scopeGroup,
      price: writing,
      description: describe.remove,
      args: { id: t.arg.id(ownId) },
      resolve: async (_root, { id }, context) => ({
        deleted: await records.remove(context, id),
        ...changed(context),
      }),
    }),
  );
}

/** Adds a kind of records to the graph: its list and its objects by id, and the mutations that write it. */
export function addRecords<T extends { id: string }>(kind: RecordInGraph<T>): void {
  addQueries(kind);
  const payload = payloadOf(kind);
  addWholeMutations(kind, payload);
  addChangeMutations(kind, payload);
}

/** `meta` of a page of the journal. */
const JournalPageMeta = metaOf<JournalPage<unknown>['meta']>(
  'JournalPageMeta',
  'registry',
  'Metadata of a page of the journal.',
  (t) => ({
    count: t.exposeInt('count', { description: 'Number of rows on the page.' }),
    cursor: t.exposeString('cursor', {
      nullable: true,
      description: 'Cursor of the next page; null on the last page.',
    }),
  }),
);

/** Cost of a page: a statement, and the selected fields of each row. */
const journalPageCost: FieldCost<{ limit?: number | null | undefined }> = {
  once: 1.5,
  sizes: ({ limit }) => ({ page: itemsAsked(limit, journalPageMax) }),
};

/** An account of the journal. */
export const JournalAccountType = builder.objectRef<JournalAccount>('JournalAccount').implement({
  description: 'An account of the journal, such as one at a broker.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id within the journal.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    broker: t.exposeString('broker', {
      nullable: true,
      size: { isWritten: true },
      description: 'Broker; null = not given.',
    }),
  }),
});

const fieldsOf = (required: boolean) =>
  builder.inputType(required ? 'JournalAccountInput' : 'JournalAccountPatch', {
    description: required ? 'Fields of a journal account.' : 'Fields of a journal account to change.',
    fields: (t) => ({
      name: t.string({ required, description: 'Display name, not empty.' }),
      broker: t.string({ description: 'Broker; null or empty = not given.' }),
    }),
  });

addRecords({
  type: JournalAccountType,
  records: journalAccounts,
  field: 'account',
  noun: { one: 'journal account', many: 'journal accounts' },
  input: fieldsOf(true),
  patch: fieldsOf(false),
  describe: {
    list: "Accounts of the caller's journal, ascending by id.",
    order: 'Ascending by id',
    create: 'Creates a journal account.',
    remove: 'Deletes a journal account. Fails while the account has trades.',
  },
});

builder.queryField('journalAccount', (t) =>
  t.field({
    type: JournalAccountType,
    nullable: true,
    description: "An account of the caller's journal; null if the id is unknown.",
    args: { id: t.arg.id({ required: true, description: 'Id within the journal.' }) },
    scope: scopeGroup,
    price: { once: recordPoints },
    resolve: (_root, { id }, context) => journalAccounts.find(context, id),
  }),
);
