import { lastMinuteEnd } from '../../core/domain/flow/contract-minutes.ts';
import type { CrossSection } from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { CrossSectionState } from '../../live/cross-sections.ts';
import type { Following } from '../../live/topics.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { coveragesWithoutMinutes } from '../../store/flow/contract-minutes.ts';
import { readCrossSections } from '../../store/flow/cross-sections.ts';
import { coverageKey } from '../../store/flow/sessions.ts';
import { fromSource, type RequestContext, requireSource } from '../context.ts';
import { coverageAsOf } from '../publication.ts';
import { printPlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { resumption, type Since } from '../since.ts';
import { flowSource } from '../source-keys.ts';
import { flowRetention, requireFlowOf } from './flow.ts';

export interface CrossSectionMeta extends ResponseMeta {
  symbol: string;
  retention: string;
  /** Reason for which there is no snapshot; null if there is one. */
  note: string | null;
}

export interface CrossSectionPage {
  /** Null if nothing was observed. Values are never estimated. */
  snapshot: CrossSection | null;
  meta: CrossSectionMeta;
}

/** Why there is no snapshot. */
async function noteOf(context: RequestContext, symbol: string, session: SessionDate | null): Promise<string> {
  if (session === null) return `No option trades of ${symbol} were observed.`;
  const coverage = await batched(
    context,
    `coverage without minutes ${session}`,
    symbol,
    async (symbols) => {
      const sessions = symbols.map((underlying) => ({ underlying, sessionDate: session }));
      return fromSource(context, 'option_tape', () => coveragesWithoutMinutes(context.store, sessions));
    },
    (underlying) => coverageKey({ underlying, sessionDate: session }),
  );
  return coverage && coverage.observedFromMs < context.nowMs
    ? `The session ${session} of ${symbol} was stored without minutes: its cross-section is known as of its end only.`
    : `No option trades of ${symbol} were observed in the session ${session}.`;
}

/** The cumulative flow of an underlying's session by strike and expiration (spec 4.9). */
export async function crossSection(
  context: RequestContext,
  symbol: string,
  session: SessionDate | null,
): Promise<CrossSectionPage> {
  await requireFlowOf(context, symbol);
  const snapshot = await batched(context, `cross-section ${session}`, symbol, (symbols) =>
    fromSource(context, 'option_tape', () => readCrossSections(context.store, symbols, session, context.nowMs)),
  );
  return {
    snapshot: snapshot && { ...snapshot, coverage: coverageAsOf(context, snapshot.coverage) },
    meta: {
      ...responseMeta(context, await printPlane(context, session), [], () =>
        snapshot ? [flowSource(symbol, snapshot.coverage.sessionDate)] : [],
      ),
      atEffective: context.past && lastMinuteEnd(context.nowMs),
      symbol,
      retention: flowRetention(session),
      note: snapshot ? null : await noteOf(context, symbol, session),
    },
  };
}

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
