import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { oncePerRequest } from '../../platform/runtime/once-per-request.ts';
import { forEverybody } from '../../platform/runtime/request-scope.ts';
import { dependOn, readingTogether, type Store } from '../../store/rows/connection.ts';
import type { Subject } from '../../store/versions/subjects.ts';
import { fromSource, type RequestContext } from '../context.ts';
import { type GroupReader, groupReaders, type Pieces, type ReadGroup } from './groups.ts';

/** A symbol's figures of a group, and the version of its data from before it was read. */
interface Held {
  version: number | null;
  piece: unknown;
}

/** The figures of one group, of all symbols that were asked for. */
class GroupTable {
  readonly #reader: GroupReader<unknown>;
  readonly #held = new Map<string, Held>();
  #period = '';
  #readAtMs = 0;
  /** The last work, which the next waits for: nothing is read twice. */
  #working: Promise<unknown> = Promise.resolve();

  constructor(reader: GroupReader<unknown>) {
    this.#reader = reader;
  }

  /** The pieces of symbols, in order; those that are no longer valid are read again. */
  read(context: RequestContext, symbols: readonly string[]): Promise<unknown[]> {
    const work = this.#working.then(() => this.#refresh(context, symbols));
    this.#working = work.catch(() => {});
    return work;
  }

  /** Forgets all if time alone may have changed it: a period is over, or the clock was set back. */
  #beginPeriod(context: RequestContext): void {
    const { nowMs, store } = context;
    const period = store.endedBarsOnly ? String(nowMs) : this.#reader.period(context);
    if (period !== this.#period || nowMs < this.#readAtMs) this.#held.clear();
    this.#period = period;
    this.#readAtMs = nowMs;
  }

  #versionOf({ versions }: Pick<Store, 'versions'>, symbol: string): number | null {
    let latest: number | null = 0;
    for (const subject of this.#reader.subjects) {
      const version: number | null = versions.of(subject, symbol);
      latest = version === null || latest === null ? null : Math.max(latest, version);
    }
    return latest;
  }

  async #refresh(context: RequestContext, symbols: readonly string[]): Promise<unknown[]> {
    this.#beginPeriod(context);
    const stale: [symbol: string, version: number | null][] = [];
    for (const symbol of symbols) {
      const version = this.#versionOf(context.store, symbol);
      const held = this.#held.get(symbol);
      if (!held || version === null || held.version !== version) stale.push([symbol, version]);
    }
    const { chunk, read } = this.#reader;
    // As of an instant all symbols are read at once, whose number is bounded: with a constant number of statements.
    const size = context.past ? stale.length : chunk;
    for (let from = 0; from < stale.length; from += size) {
      if (from > 0) await yieldToEventLoop();
      const batch = stale.slice(from, from + size);
      const own = context.past ? context : { ...context, loaders: new Map(), once: new Map() };
      const pieces = await Promise.all(batch.map(([symbol]) => read(own, symbol)));
      batch.forEach(([symbol, version], i) => {
        this.#held.set(symbol, { version, piece: pieces[i] });
      });
    }
    return symbols.map((symbol) => this.#held.get(symbol)?.piece ?? null);
  }
}

/** The table of figures, by group, kept up to date by the versions of each symbol's data. */
type FigureTable = Map<ReadGroup, GroupTable>;

const tables = new WeakMap<Store['blocks'], FigureTable>();

function groupTable(table: FigureTable, group: ReadGroup): GroupTable {
  const found = table.get(group) ?? new GroupTable(groupReaders[group]);
  table.set(group, found);
  return found;
}

/** The live table of the process. */
function liveTable({ sharedStore: { blocks } }: RequestContext): FigureTable {
  const found = tables.get(blocks) ?? new Map();
  tables.set(blocks, found);
  return found;
}

/** The table of a request about the past. */
const pastTable = (context: RequestContext): Promise<FigureTable> =>
  oncePerRequest(context, `figures ${context.nowMs}`, async () => new Map());

/** Reads what callers with any rights see: each caller's own are checked by its request. */
function ofTheProcess(context: RequestContext): RequestContext {
  const caller = { ...context.caller, tier: 'pro', siteTier: 'pro', attested: true } as const;
  return { ...context, store: readingTogether(context.sharedStore), caller };
}

/** Adds the pieces of a group to symbols. Live ones are those of the process, whose data the answer depends on. */
export async function addPieces(
  context: RequestContext,
  group: ReadGroup,
  screened: readonly { entry: { symbol: string }; pieces: Partial<Pieces> }[],
): Promise<void> {
  const { subjects, sources } = groupReaders[group];
  const symbols = screened.map(({ entry }) => entry.symbol);
  const source = sources.find((each) => context.sources[each]) ?? sources[0];
  if (!context.past) for (const subject of subjects) dependOn(context.sharedStore, subject satisfies Subject, null);
  const found = await fromSource(context, source, async () =>
    context.past
      ? groupTable(await pastTable(context), group).read(context, symbols)
      : forEverybody(() => groupTable(liveTable(context), group).read(ofTheProcess(context), symbols)),
  );
  screened.forEach(({ pieces }, i) => {
    pieces[group] = found[i] as never;
  });
}
