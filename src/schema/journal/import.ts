import {
  type ImportResult,
  importJournal,
  type journalFormats,
  type RowError,
} from '../../resolvers/journal/import.ts';
import { type ResponseMeta, responseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { costs, linesOf, writing } from '../cost.ts';
import { PlainMetaType } from '../response-meta.ts';

const JournalFormatEnum = builder.enumType('JournalFormat', {
  description: "Form of an import's body.",
  values: {
    jsonl: { description: 'One trade object a line: id, account_id, symbol, side, qty, price, ts, note.' },
    csv: { description: 'A header line, then id,account_id,symbol,side,qty,price,ts,note with RFC 4180 quoting.' },
  } satisfies Record<(typeof journalFormats)[number], object>,
});

const RowErrorType = builder.objectRef<RowError>('ImportRowError').implement({
  description: 'A row that was not imported.',
  fields: (t) => ({
    row: t.exposeInt('row', {
      description: 'Line of the body on which the row starts; the first is 1, a CSV header too.',
    }),
    code: t.exposeString('code', {
      description: 'Why: missing_<field>, bad_<field>, bad_json or bad_columns.',
    }),
  }),
});

const ImportResultType = builder.objectRef<ImportResult>('ImportResult').implement({
  description: 'What became of an import.',
  fields: (t) => ({
    created: t.exposeInt('created', { description: 'Trades that are new in the journal.' }),
    skipped: t.exposeInt('skipped', { description: 'Trades whose id the journal, or an earlier row, had already.' }),
    errors: t.expose('errors', {
      type: [RowErrorType],
      extensions: costs({ rows: 'page' }),
      description: 'Rows that were not imported, in order; the others were.',
    }),
  }),
});

const ImportJournalPayload = builder
  .objectRef<{ result: ImportResult; meta: ResponseMeta }>('ImportJournalPayload')
  .implement({
    description: 'A journal after an import.',
    fields: (t) => ({
      result: t.expose('result', {
        type: ImportResultType,
        description: 'What became of it; of an id used before, what became of the first.',
      }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'What the answer says of itself.' }),
    }),
  });

builder.mutationField('importJournal', (t) =>
  t.field({
    type: ImportJournalPayload,
    nullable: true,
    description:
      'Imports trades into the journal: the rows that are good, all at once or, after a crash, none. Sending an importId again imports nothing and gives the first result. A GraphQL request holds at most 1 MiB; larger imports go over REST.',
    args: {
      importId: t.arg.id({ required: true, description: 'Id of the import, chosen by the caller.' }),
      format: t.arg({ type: JournalFormatEnum, defaultValue: 'jsonl', description: 'Form of the body.' }),
      body: t.arg({ type: 'ImportBody', required: true, description: 'The rows, blank lines passed over.' }),
    },
    extensions: {
      scopeGroup: 'journal',
      // Every line may be an error.
      ...costs<{ body: Uint8Array }>({ ...writing, sizes: ({ body }) => ({ page: linesOf(body) }) }),
    },
    resolve: async (_root, { importId, format, body }, context) => ({
      result: await importJournal(context, { importId, format: format ?? 'jsonl', body }),
      meta: responseMeta(context, 'registry'),
    }),
  }),
);
