import { isSealed } from '../core/domain/calendar.ts';
import { exchangeDate, type SessionDate } from '../core/domain/market-time.ts';
import type { Tier } from '../platform/config/tiers.ts';
import type { AsOf } from './as-of.ts';
import type { RequestContext } from './context.ts';
import { currentDate } from './current-date.ts';
import type { SourceKey } from './provenance.ts';

/** Caps applied to an answer (spec 2.1). `darkpool`, `flow` and `gexDepth` are null if a route does not report them. */
export interface Caps {
  applied: string[];
  tier: Tier;
  darkpool: boolean | null;
  flow: boolean | null;
  gexDepth: string | null;
}

/** The serving tier of an answer: `live` has the current session, `archive` only sealed ones, `registry` neither. */
export type Plane = 'live' | 'archive' | 'registry';

/** The part of `meta` that every answer has. */
export interface ResponseMeta {
  caps: Caps;
  plane: Plane | null;
  /** The requested instant in the past, epoch ms; null = live. */
  at: number | null;
  /** The requested instant of knowledge, epoch ms; null = now. */
  knownAt: number | null;
  /** The last instant up to it at which what was read has a value, epoch ms; null = live, or there is none. */
  atEffective: number | null;
  /** Stored data that the answer was made from; absent = none that is of the market. */
  sources?: Sources | undefined;
}

/** Finds out what stored data an answer was made from. */
export type Sources = () => readonly SourceKey[] | Promise<readonly SourceKey[]>;

/** True if the context's instant is in a session before the current one. */
const isOfPastSession = ({ past, nowMs, now }: RequestContext) =>
  past !== null && exchangeDate(nowMs) < exchangeDate(now());

/**
 * `meta` of an answer: `applied` lists the caps that changed it. What is live as of an instant in a past session is of
 * the archive.
 */
export function responseMeta(
  context: RequestContext,
  plane: Plane,
  applied: string[] = [],
  sources?: Sources,
): ResponseMeta {
  const { caller, past, nowMs } = context;
  return {
    sources,
    caps: { applied, tier: caller.tier, darkpool: null, flow: null, gexDepth: null },
    plane: plane === 'live' && isOfPastSession(context) ? 'archive' : plane,
    at: past?.atMs ?? null,
    atEffective: past && past.atMs !== null ? nowMs : null,
    knownAt: past?.knownMs ?? null,
  };
}

/** The instant of an answer that an argument of its own gave; an `asOf` around it comes first. */
export function instantMeta(
  { past }: Pick<RequestContext, 'past'>,
  asOf: AsOf | null,
  atEffective: number | null,
): Pick<ResponseMeta, 'at' | 'atEffective'> {
  const at = past?.atMs ?? asOf?.atMs ?? null;
  return { at, atEffective: at === null ? null : atEffective };
}

/** `archive` for captures of a session that is over, `live` for those of the current one, and of the latest (null). */
export function capturePlane({ nowMs }: Pick<RequestContext, 'nowMs'>, session: SessionDate | null): Plane {
  return session !== null && isSealed(session, nowMs) ? 'archive' : 'live';
}

/** Plane of the capture as of an instant; null = the latest. */
export function planeAt(context: Pick<RequestContext, 'nowMs'>, asOf: { atMs: number } | null): Plane {
  return capturePlane(context, asOf && exchangeDate(asOf.atMs));
}

/**
 * Plane of the prints of a session: `archive` for one before the current session; `live` for that one, and for the
 * latest (null).
 */
export async function printPlane(context: RequestContext, session: SessionDate | null): Promise<Plane> {
  return session !== null && session < (await currentDate(context)) ? 'archive' : 'live';
}
