import { importLimits, importRequests } from '../../../core/domain/journal.ts';
import type { BodyReader } from '../../contract/body.ts';
import { opaqueId } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

// Its bytes are passed to the operation unparsed: a repeated import gets the earlier answer regardless of its body.
const body: BodyReader = {
  mediaTypes: ['text/plain'],
  maxBytes: importLimits.bytes,
  required: true,
  schema: {
    type: 'string',
    description: `One trade object per line, or CSV with a header. UTF-8, at most ${importLimits.lines} lines.`,
    examples: ['{"id":"t1","account_id":"main","symbol":"SPY","side":"buy","qty":10,"price":600.5}\n'],
  },
  cost: importRequests,
  read: (bytes) => bytes,
};

// Spec 4.17.
export const journalImport = route({
  method: 'POST',
  path: '/v2/journal/import',
  summary: 'Import trades',
  description:
    'Imports all valid rows and reports the others: the first 100 in errors; meta.errors_omitted counts the rest. Costs one request per 1,000 lines or 200 kB begun. Sending an import_id again imports nothing and returns the first result.',
  scopeGroup: 'journal',
  params: { import_id: opaqueId },
  body,
  name: 'journal-import',
  operation: 'journal/import.graphql',
  graphql:
    'mutation { importJournal(importId: "{import}", body: "id,account_id,symbol,side,qty,price\\nt1,main,SPY,buy,10,636.5", format: csv) { result { created } } }',
  example: {
    params: { import_id: '{import}' },
    body: '{"id":"t1","account_id":"main","symbol":"SPY","side":"buy","qty":10,"price":636.5}\n{"id":"t2","account_id":"main","symbol":"SPY","side":"sell"}\n',
  },
  hints: { idempotent: true },
  answer: 'importJournal',
  variables: { body: (_values, bytes) => bytes },
  errors: [400, 413, 415, 502],
});
