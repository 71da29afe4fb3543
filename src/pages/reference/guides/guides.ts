import { changelogGuide } from './changelog.ts';
import type { Guide } from './guide.ts';
import { keyGuide } from './key.ts';
import { pagingGuide } from './paging.ts';
import { ratesGuide } from './rates.ts';

/** The guides, in the order in which they are read. */
export const guides: readonly Guide[] = [keyGuide, ratesGuide, pagingGuide, changelogGuide];
