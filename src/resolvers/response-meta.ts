import { isSealed } from '../domain/calendar.ts';
import type { SessionDate } from '../domain/market-time.ts';
import type { Tier } from '../domain/tier.ts';
import type { RequestContext } from './context.ts';

/**
 * Caps that shaped an answer (spec 2.1). `darkpool`, `flow` and `gexDepth` are null where a route does not report them.
 */
export interface Caps {
  applied: string[];
  tier: Tier;
  darkpool: boolean | null;
  flow: boolean | null;
  gexDepth: string | null;
}

/** Which serving tier answered: `live` holds the current session, `archive` only sealed ones, `registry` neither. */
export type Plane = 'live' | 'archive' | 'registry';

/** The part of `meta` that every answer has. */
export interface ResponseMeta {
  caps: Caps;
  plane: Plane | null;
}

/** `meta` of an answer: `applied` lists the caps that changed it. */
export function responseMeta(context: RequestContext, plane: Plane, applied: string[] = []): ResponseMeta {
  return { caps: { applied, tier: context.caller.tier, darkpool: null, flow: null, gexDepth: null }, plane };
}

/**
 * `archive` for a sealed session that was asked for; `live` for the current one, and for whichever is the latest
 * (null).
 */
export function sessionPlane(session: SessionDate | null, nowMs: number): Plane {
  return session !== null && isSealed(session, nowMs) ? 'archive' : 'live';
}
