import { isSealed } from '../domain/calendar.ts';
import type { SessionDate } from '../domain/market-time.ts';
import type { Tier } from '../domain/tier.ts';
import type { RequestContext } from './context.ts';
import { currentDate } from './current-date.ts';

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

/** `archive` for captures of a sealed session, `live` for those of the current one. */
export function capturePlane(session: SessionDate, nowMs: number): Plane {
  return isSealed(session, nowMs) ? 'archive' : 'live';
}

/**
 * Plane of the prints of a session: `archive` for one before the current session; `live` for that one, and for
 * whichever is the latest (null).
 */
export async function printPlane(context: RequestContext, session: SessionDate | null): Promise<Plane> {
  return session !== null && session < (await currentDate(context)) ? 'archive' : 'live';
}
