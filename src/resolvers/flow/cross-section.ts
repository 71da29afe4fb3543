import type { CrossSection } from '../../domain/flow/flow.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { batched } from '../../runtime/batched.ts';
import { readCrossSections } from '../../store/flow/cross-sections.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { coverageAsOf } from '../publication.ts';
import { printPlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
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
      symbol,
      retention: flowRetention(session),
      note: snapshot
        ? null
        : `No option trades of ${symbol} were observed${session ? ` in the session ${session}` : ''}.`,
    },
  };
}
