import type { OwnJournal } from '../../store/journal/journal-writes.ts';
import type { RequestContext } from '../context.ts';

/** The caller's journal, for writing. */
export function ownJournal({ caller, journalMaxRows }: RequestContext): OwnJournal {
  return { accountId: caller.accountId, maxRows: journalMaxRows };
}
