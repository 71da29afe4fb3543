import { importLimits, importRequests } from '../../core/domain/journal.ts';
import {
  type ImportAnswer,
  type ImportResult,
  importJournal,
  type journalFormats,
  type RowError,
} from '../../resolvers/journal/import.ts';
import { builder } from '../builder.ts';
import { writing } from '../cost.ts';
import { metaOf } from '../meta-of.ts';

const JournalFormatEnum = builder.enumType('JournalFormat', {
  description: 'Format of an import.',
  values: {
    jsonl: { description: 'One trade object per line: id, account_id, symbol, side, qty, price, ts, note.' },
    csv: {
      description: 'A header line, then rows of id,account_id,symbol,side,qty,price,ts,note with RFC 4180 quoting.',
    },
  } satisfies Record<(typeof journalFormats)[number], object>,
});

const RowErrorType = builder.objectRef<RowError>('ImportRowError').implement({
  description: 'A row that was not imported.',
  fields: (t) => ({
    row: t.exposeInt('row', {
      description: 'Line of the body on which the row starts. The first line is 1; a CSV header counts.',
    }),
    code: t.exposeString('code', {
      description: 'The reason: missing_<field>, bad_<field>, bad_json or bad_columns.',
    }),
  }),
});

const ImportResultType = builder.objectRef<ImportResult>('ImportResult').implement({
  description: 'The result of an import.',
  fields: (t) => ({
    created: t.exposeInt('created', { description: 'Number of trades added to the journal.' }),
    skipped: t.exposeInt('skipped', {
      description: 'Number of trades skipped because their id is already in the journal or in an earlier row.',
    }),
    errors: t.expose('errors', {
      type: [RowErrorType],
      size: { rows: 'page' },
      description: 'Rows that were not imported, in order: the first 100. meta.errorsOmitted counts the others.',
    }),
  }),
});

const ImportMetaType = metaOf<ImportAnswer['meta']>('ImportMeta', 'registry', 'Metadata of an import.', (t) => ({
  errorsOmitted: t.exposeInt('errorsOmitted', {
    nullable: true,
    description: 'Number of rows that were not imported and are not listed; null = all are listed.',
  }),
}));

const ImportJournalPayload = builder.objectRef<ImportAnswer>('ImportJournalPayload').implement({
  description: 'The journal after an import.',
  fields: (t) => ({
    result: t.expose('result', {
      type: ImportResultType,
      description: 'The result. If the id was used before, the result of the first import.',
    }),
    meta: t.expose('meta', { type: ImportMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.mutationField('importJournal', (t) =>
  t.field({
    type: ImportJournalPayload,
    nullable: true,
    description:
      'Imports trades into the journal. All valid rows are stored in one transaction; invalid rows are reported. Sending an importId again imports nothing and returns the first result. Costs 10 points per 1,000 lines or 200 kB beyond those of a mutation. A GraphQL request is limited to 1 MiB; use REST for larger imports.',
    args: {
      importId: t.arg.id({ required: true, description: 'Id of the import, chosen by the caller.' }),
      format: t.arg({ type: JournalFormatEnum, defaultValue: 'jsonl', description: 'Format of the body.' }),
      body: t.arg({ type: 'ImportBody', required: true, description: 'The rows. Blank lines are ignored.' }),
    },
    scope: 'journal',
    price: {
      ...writing,
      each: ({ requests }) => 10 * requests,
      sizes: ({ body }) => ({ page: importLimits.listedErrors, requests: importRequests(body) }),
    },
    resolve: (_root, { importId, format, body }, context) =>
      importJournal(context, { importId, format: format ?? 'jsonl', body }),
  }),
);
