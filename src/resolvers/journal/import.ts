import { isId, maxIdLength } from '../../core/domain/account.ts';
import { type ImportResult, type RowError, readJournalBody } from '../../core/domain/journal.ts';
import { ulid } from '../../platform/runtime/ulid.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { findImport, importTrades } from '../../store/journal/imports.ts';
import { fromStore, type RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { ownJournal } from './records.ts';

export type { ImportResult, RowError };

/** Forms of an import's body; the first is the default (spec 4.17). */
export const journalFormats = ['jsonl', 'csv'] as const;

export interface ImportArgs {
  importId: string;
  format: (typeof journalFormats)[number];
  /** UTF-8 text. */
  body: Uint8Array;
}

/** An import's result, and `meta` of its answer. */
export interface ImportAnswer {
  result: ImportResult;
  /** `errorsOmitted`: null = every row that was not imported is listed. */
  meta: ResponseMeta & { errorsOmitted: number | null };
}

/** Imports trades with `imported`, and builds the answer. */
export async function importJournal(context: RequestContext, args: ImportArgs): Promise<ImportAnswer> {
  const result = await imported(context, args);
  return { result, meta: { ...responseMeta(context, 'registry'), errorsOmitted: result.errorsOmitted || null } };
}

/**
 * Imports trades into the caller's journal (spec 4.17). A repeated id returns its first result and imports nothing,
 * regardless of the body. 400 for an invalid id or body and over the quota of rows, 413 over the limits; then nothing
 * is imported.
 */
async function imported(context: RequestContext, args: ImportArgs): Promise<ImportResult> {
  const { store, caller, nowMs, random } = context;
  const { importId, format, body } = args;
  if (!isId(importId)) {
    throw invalidParameter('import_id', `expected 1 to ${maxIdLength} characters without control characters`);
  }
  const earlier = await fromStore('journal', () => findImport(store, caller.accountId, importId));
  if (earlier) return earlier;
  if (body.byteLength === 0) throw invalidParameter('body', 'is required; it was empty');
  const request = { importId, ...(await readJournalBody(body, format, nowMs)) };
  return fromStore('journal', () =>
    importTrades(store, ownJournal(context), request, () => ulid(nowMs, random), nowMs),
  );
}
