import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { type SessionEnd, sessionEnds } from '../../store/gex/captures.ts';
import { throughMs } from '../as-of.ts';
import { findSymbol, fromSource, type RequestContext } from '../context.ts';

/** Figures at the end of a session. */
export type GexSession = SessionEnd;

/** Number of sessions listed. */
export const gexSessionLimits = { usual: 20, most: 260 };

/** The last capture of each of a symbol's latest sessions, newest first. */
export async function gexSessions(context: RequestContext, symbol: string, first: number): Promise<GexSession[]> {
  if (first < 1) throw invalidParameter('first', `expected a whole number from 1, got ${first}`);
  requireReadable(context.caller, await findSymbol(context, symbol));
  const limit = Math.min(first, gexSessionLimits.most);
  const found = await batched(context, `gex sessions ${limit}`, symbol, (symbols) =>
    fromSource(context, 'chain', () => sessionEnds(context.store, symbols, throughMs(context), limit)),
  );
  return found ?? [];
}
