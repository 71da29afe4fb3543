import { invalidParameter } from '../../platform/wire/failure.ts';
import type { RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';

/** Number of rows of a journal page: default and maximum. */
export const journalPageMax = 5000;

export interface JournalPageArgs {
  limit?: number | null | undefined;
  cursor?: string | null | undefined;
}

/** A page of the journal. */
export interface JournalPage<Row> {
  rows: Row[];
  meta: ResponseMeta & { count: number; cursor: string | null };
}

/** A page's size, and the caps applied to it. */
export function journalLimit(limit: number | null | undefined): { limit: number; applied: string[] } {
  if (limit != null && limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  return {
    limit: Math.min(limit ?? journalPageMax, journalPageMax),
    applied: (limit ?? 0) > journalPageMax ? ['limit_clamped'] : [],
  };
}

/** Builds a page from rows read with one more than its limit, which only shows whether there are more. */
export function journalPage<Row>(
  context: RequestContext,
  read: readonly Row[],
  { limit, applied }: { limit: number; applied: string[] },
  cursorAfter: (row: Row) => string,
): JournalPage<Row> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows,
    meta: {
      ...responseMeta(context, 'registry', applied),
      count: rows.length,
      cursor: read.length > limit && last !== undefined ? cursorAfter(last) : null,
    },
  };
}
