import { type JournalPage, journalPageMax } from '../../resolvers/journal/page.ts';
import { type FieldCost, itemsAsked } from '../cost.ts';
import { metaOf } from '../meta-of.ts';

/** `meta` of a page of the journal. */
export const JournalPageMeta = metaOf<JournalPage<unknown>['meta']>(
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
export const journalPageCost: FieldCost<{ limit?: number | null | undefined }> = {
  once: 1.5,
  sizes: ({ limit }) => ({ page: itemsAsked(limit, journalPageMax) }),
};
