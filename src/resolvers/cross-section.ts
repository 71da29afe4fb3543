import DataLoader from 'dataloader';
import { coverageAt } from '../domain/coverage.ts';
import type { CrossSection } from '../domain/flow.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { readCrossSections } from '../store/cross-sections.ts';
import { fromSource, loader, type RequestContext } from './context.ts';
import { flowRetention, requireFlowOf } from './flow.ts';
import { type ResponseMeta, responseMeta, sessionPlane } from './response-meta.ts';

export interface CrossSectionMeta extends ResponseMeta {
  symbol: string;
  retention: string;
  /** Why there is no snapshot; null when there is one. */
  note: string | null;
}

export interface CrossSectionPage {
  /** Null when nothing was observed; nothing is estimated. */
  snapshot: CrossSection | null;
  meta: CrossSectionMeta;
}

/** Symbols asked for the same session in one request are read together. */
function snapshotLoader(context: RequestContext, session: SessionDate | null) {
  return loader(
    context,
    `cross-section ${session}`,
    () =>
      new DataLoader<string, CrossSection | null, string>(async (symbols) => {
        const snapshots = await readCrossSections(context.store, symbols, session, context.nowMs);
        return symbols.map((symbol) => snapshots.get(symbol) ?? null);
      }),
  );
}

/** The cumulative flow of an underlying's session by strike and expiration (spec 4.9). */
export async function crossSection(
  context: RequestContext,
  symbol: string,
  session: SessionDate | null,
): Promise<CrossSectionPage> {
  await requireFlowOf(context, symbol);
  const snapshot = await fromSource(context, 'option_tape', () => snapshotLoader(context, session).load(symbol));
  return {
    snapshot: snapshot && { ...snapshot, coverage: coverageAt(snapshot.coverage, context.nowMs) },
    meta: {
      ...responseMeta(context, sessionPlane(session, context.nowMs)),
      symbol,
      retention: flowRetention,
      note: snapshot
        ? null
        : `No option trades of ${symbol} were observed${session ? ` in the session ${session}` : ''}.`,
    },
  };
}
