import type { CrossSection } from '../../domain/flow/flow.ts';
import type { LiveSource } from '../../live/source.ts';
import { type RequestContext, requireSource } from '../context.ts';
import { requireFlowOf } from './flow.ts';

/** An underlying's snapshot, then each that follows. 403 and 404 as for the query. */
export async function followCrossSection(context: RequestContext, symbol: string): Promise<LiveSource<CrossSection>> {
  await requireFlowOf(context, symbol);
  requireSource(context, 'option_tape');
  const { after } = context;
  return context.live.crossSections.follow({
    keys: [symbol],
    resume:
      after === null ? null : { after, read: async ({ event }) => (event && event.cursor !== after ? [event] : []) },
    check: (caller) => requireFlowOf({ ...context, caller }, symbol),
  });
}
