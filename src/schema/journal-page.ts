import { type JournalPage, journalPageMax } from '../resolvers/journal-page.ts';
import { builder } from './builder.ts';
import { ResponseMetaInterface } from './response-meta.ts';

/** `meta` of a page of the journal. */
export const JournalPageMeta = builder.objectRef<JournalPage<unknown>['meta']>('JournalPageMeta').implement({
  description: 'Metadata of a page of the journal.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Rows of the page.' }),
    cursor: t.exposeString('cursor', { nullable: true, description: 'Continues the list; null at its end.' }),
  }),
});

/** What a page of so many rows costs: a point, and what is asked of each row. */
export function journalPageCost({ limit }: { limit?: number | null | undefined }): {
  field: number;
  multiplier: number;
} {
  return { field: 1, multiplier: Math.max(1, Math.min(limit ?? journalPageMax, journalPageMax)) };
}
