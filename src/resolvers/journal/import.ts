import { isId, maxIdLength } from '../../domain/account.ts';
import { invalidParameter } from '../../domain/failure.ts';
import type { ImportResult, RowError } from '../../domain/journal/journal.ts';
import { readJournalBody } from '../../domain/journal/journal-import.ts';
import { ulid } from '../../runtime/ulid.ts';
import { findImport, importTrades } from '../../store/journal/imports.ts';
import { fromStore, type RequestContext } from '../context.ts';

export type { ImportResult, RowError };

/** Forms of an import's body; the first is the default (spec 4.17). */
export const journalFormats = ['jsonl', 'csv'] as const;

export interface ImportArgs {
  importId: string;
  format: (typeof journalFormats)[number];
  /** UTF-8 text. */
  body: Uint8Array;
}

/**
 * Imports trades into the caller's journal (spec 4.17). An id that was used before returns its first result and imports
 * nothing, regardless of the body. 400 for an id or a body that cannot be one, 413 over the limits; then nothing is
 * imported.
 */
export async function importJournal(context: RequestContext, args: ImportArgs): Promise<ImportResult> {
  const { store, caller, nowMs, random } = context;
  const { importId, format, body } = args;
  if (!isId(importId)) {
    throw invalidParameter('import_id', `expected 1 to ${maxIdLength} characters without control characters`);
  }
  const earlier = await fromStore('journal', () => findImport(store, caller.accountId, importId));
  if (earlier) return earlier;
  if (body.byteLength === 0) throw invalidParameter('body', 'is required; it was empty');
  const { trades, errors } = await readJournalBody(body, format, nowMs);
  const request = { accountId: caller.accountId, importId, trades, errors };
  return fromStore('journal', () => importTrades(store, request, () => ulid(nowMs, random), nowMs));
}
