import { changelogGuide } from './changelog.ts';
import { keyGuide } from './getting-a-key.ts';
import type { Guide } from './guide-types.ts';
import { pagingGuide } from './paging.ts';
import { ratesGuide } from './rates.ts';

/** The guides, in reading order. */
export const guides: readonly Guide[] = [keyGuide, ratesGuide, pagingGuide, changelogGuide];
