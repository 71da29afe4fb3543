import type { CrossSection } from '../../core/domain/flow/flow.ts';
import type { CrossSectionState } from '../../live/cross-sections.ts';
import type { Following } from '../../live/topics.ts';
import { type RequestContext, requireSource } from '../context.ts';
import { resumption, type Since } from '../since.ts';
import { requireFlowOf } from './flow.ts';

/** Following an underlying's snapshot: the latest, then each new one. 403 and 404 as for the query. */
export async function crossSectionFollowing(
  context: RequestContext,
  symbol: string,
  since: Since,
): Promise<Following<CrossSectionState, CrossSection>> {
  await requireFlowOf(context, symbol);
  requireSource(context, 'option_tape');
  return {
    keys: [symbol],
    resume: resumption(context, since, {
      after: async ({ event }, after) => (event && event.cursor !== after ? [event] : []),
      since: async ({ event }, sinceMs) => (event && event.value.coverage.observedThroughMs > sinceMs ? [event] : []),
    }),
    check: (caller) => requireFlowOf({ ...context, caller }, symbol),
  };
}
