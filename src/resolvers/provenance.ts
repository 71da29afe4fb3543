import type { Coverage } from '../core/domain/flow/flow.ts';
import type { Generation, GenerationMaker, GenerationPart, LiveLines } from '../core/domain/generation.ts';
import type { SessionDate } from '../core/domain/market-time.ts';
import { batched } from '../platform/runtime/batched.ts';
import { coverageKey, coveragesOf } from '../store/flow/sessions.ts';
import { readGenerations } from '../store/market/generations.ts';
import { originsOf } from '../store/market/session-origins.ts';
import { sealTimes } from '../store/market/session-seals.ts';
import { readFrom } from '../store/rows/connection.ts';
import { throughMs } from './as-of.ts';
import { fromStore, ofAllInstants, type RequestContext } from './context.ts';

/** Stored data that an answer was made from: a symbol's sessions in some datasets. */
export interface SourceKey extends Omit<GenerationPart, 'instantMs'> {
  datasets: readonly string[];
  /** Time of one capture, epoch ms; null = all of the sessions. */
  instantMs: number | null;
}

/** A file as it is shown to a caller. */
export interface ShownFile {
  /** Null when the caller may not know it. */
  name: string | null;
  /** Null = unknown, as of files of an older version. */
  sha256: string | null;
  lines: number | null;
}

/** Origin of a generation, as it is shown to a caller. */
interface ShownOrigin {
  made: GenerationMaker;
  ingestedMs: number;
  files: ShownFile[];
  /** Its name is null when the caller may not know it. */
  live: (Omit<LiveLines, 'source'> & { source: string | null }) | null;
}

/** Provenance of a symbol's data of a session, or of several that were written as one. */
export interface Provenance extends ShownOrigin {
  dataset: string;
  symbol: string;
  session: SessionDate;
  throughSession: SessionDate;
  /** Epoch ms; null for sessions as a whole. */
  capturedAt: number | null;
  /** The generation before it; null = there was none, or it is not known. */
  supersedes: ShownOrigin | null;
  methodologyVersion: string | null;
  productVersion: string | null;
  /** Null for what is of no option tape. */
  coverage: (Coverage & { symbol: string }) | null;
  /** Epoch ms; null = the session is not sealed. */
  sealedMs: number | null;
  origin: 'simulated' | 'real';
}

/** Generations of an answer: the newest sessions first. */
const mostShown = 50;

/** True if a caller may know the names of files. */
export function seesNames({ provenance, caller }: Pick<RequestContext, 'provenance' | 'caller'>): boolean {
  return provenance === 'public' || (provenance === 'account' && caller.attested);
}

function shownOrigin(context: RequestContext, { made, ingestedMs, files, live }: Generation): ShownOrigin {
  const named = seesNames(context);
  return {
    made,
    ingestedMs,
    files: files.map((file) => ({ ...file, name: named ? file.name : null })),
    live: live && { ...live, source: named ? live.source : null },
  };
}

const isOf =
  ({ datasets, symbol, from, through, instantMs }: SourceKey) =>
  (each: Generation) =>
    datasets.includes(each.dataset) &&
    each.symbol === symbol &&
    each.from <= through &&
    each.through >= from &&
    (instantMs === null || each.instantMs === instantMs);

/** All generations of each key, those that are in force no longer among them. One statement. */
export function generationsOf(context: RequestContext, key: SourceKey): Promise<Generation[]> {
  return batched(ofAllInstants(context), 'generations', key, (keys) =>
    fromStore('provenance', async () => {
      const from = readFrom(context.store, 'provenance', new Set(keys.map(({ symbol }) => symbol)));
      const found = await readGenerations(from, keys);
      return keys.map((each) => found.filter(isOf(each)));
    }),
  );
}

/** A session's state beside its data. */
interface SessionState {
  coverage: Coverage | null;
  sealedMs: number | null;
  origin: Provenance['origin'];
}

function stateOf(context: RequestContext, symbol: string, sessionDate: SessionDate): Promise<SessionState> {
  return batched(ofAllInstants(context), 'session states', { symbol, sessionDate }, (sessions) =>
    fromStore('provenance', async () => {
      const symbols = new Set(sessions.map((each) => each.symbol));
      const from = readFrom(context.store, 'provenance', symbols);
      const underlyings = sessions.map((each) => ({ underlying: each.symbol, sessionDate: each.sessionDate }));
      const [coverages, seals, origins] = await Promise.all([
        coveragesOf(readFrom(context.store, 'flow', symbols), underlyings),
        sealTimes(from, sessions),
        originsOf(from, sessions),
      ]);
      return sessions.map((_, i) => ({
        coverage: coverages.get(coverageKey(underlyings[i]!)) ?? null,
        sealedMs: seals[i]!,
        origin: origins[i] === 'sample' ? ('simulated' as const) : ('real' as const),
      }));
    }),
  );
}

/** The generation that one took the place of: the last of those that it ended. */
function before({ ingestedMs, instantMs, from, through }: Generation, all: readonly Generation[]): Generation | null {
  const ended = all.filter(
    (each) =>
      each.supersededMs === ingestedMs && each.instantMs === instantMs && each.from <= through && each.through >= from,
  );
  return ended.sort((a, b) => a.ingestedMs - b.ingestedMs).at(-1) ?? null;
}

/**
 * The generations that stored data of the keys is in force by, the newest sessions first, at most 50. Null where
 * provenance is not served. Four statements, for any number of keys; equal keys are looked up once.
 */
export async function provenanceOf(context: RequestContext, keys: readonly SourceKey[]): Promise<Provenance[] | null> {
  if (context.provenance === 'off') return null;
  return batched(context, 'provenance', keys, (all) => Promise.all(all.map((each) => sourcesOf(context, each))));
}

async function sourcesOf(context: RequestContext, keys: readonly SourceKey[]): Promise<Provenance[]> {
  const found = await Promise.all(keys.map((key) => generationsOf(context, key)));
  const inForce = found.flatMap((all) =>
    all
      .filter(({ supersededMs, instantMs }) => supersededMs === null && instantMs <= throughMs(context))
      .map((generation) => ({ generation, all })),
  );
  const order = ({ generation: { from, instantMs } }: (typeof inForce)[number]) => `${from} ${instantMs}`;
  const shown = inForce.sort((a, b) => (order(a) > order(b) ? -1 : order(a) < order(b) ? 1 : 0)).slice(0, mostShown);
  const sources = await Promise.all(
    shown.map(async ({ generation, all }) => {
      const { dataset, symbol, from, through, instantMs, methodologyVersion, productVersion } = generation;
      const previous = before(generation, all);
      const { coverage, ...state } = await stateOf(context, symbol, from);
      return {
        dataset,
        symbol,
        session: from,
        throughSession: through,
        methodologyVersion,
        productVersion,
        ...state,
        ...shownOrigin(context, generation),
        capturedAt: instantMs === 0 ? null : instantMs,
        supersedes: previous && shownOrigin(context, previous),
        coverage: dataset === 'option-trades' && coverage ? { ...coverage, symbol } : null,
      };
    }),
  );
  // As of an instant, the session of which nothing was observed yet has no data.
  return sources.filter(({ coverage }) => coverage === null || coverage.observedFromMs <= context.nowMs);
}
