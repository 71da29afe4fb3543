import type { OneCommit } from '../../platform/runtime/once-per-request.ts';
import { sourceFailed } from '../../platform/wire/failure.ts';
import { type Store, withSnapshot, withView } from '../rows/connection.ts';
import { type KnownSnapshot, knownStore } from '../superseded/known-store.ts';
import type { ReadView } from './read-view.ts';

/** Times that an answer is made from the store as it changes, before it is made from a snapshot. */
const attempts = 3;
/** Time from which work that met a commit would most likely meet another, ms: it is done again from a snapshot. */
const longMs = 250;

async function isOfOneCommit(view: ReadView): Promise<boolean> {
  try {
    return await view.isOfOneCommit();
  } catch (cause) {
    throw sourceFailed('commits', cause);
  }
}

/** The result of work, or the error that it threw. */
type Outcome<T> = { result: T } | { error: unknown };

const outcomeOf = <T>(work: Promise<T>): Promise<Outcome<T>> =>
  work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );

/** Work that failed was of one commit too if that cannot be found out: the failure is known. */
const failedOfOneCommit = (view: ReadView) => view.isOfOneCommit().catch(() => true);

/** A request's snapshot of what was known: one at a time, so that requests never wait for each other's. */
class KnownSnapshots {
  readonly #shared: Store;
  #taken: KnownSnapshot | null = null;

  constructor(shared: Store) {
    this.#shared = shared;
  }

  /** That of the request, if it reads from one; else one that is taken when it is first read. */
  of({ snapshot }: Store): KnownSnapshot {
    if (snapshot) return { snapshot, changesBefore: null };
    const { snapshots, versions } = this.#shared;
    this.#taken ??= { snapshot: snapshots.lease(), changesBefore: versions.count };
    return this.#taken;
  }

  async end(): Promise<void> {
    const ended = this.#taken;
    this.#taken = null;
    await ended?.snapshot.end();
  }
}

/** The reads of one request. */
export interface RequestReads extends OneCommit {
  store: Store;
  /** A store of the request that reads data as it was known at an instant, epoch ms, while its work is done. */
  asKnown(atMs: number): Store;
}

/**
 * A store whose reads are those of one request, or of one read of a live topic after the other; `forget` drops what was
 * read, when it is read again.
 */
export function readsOf(shared: Store, forget: () => void = () => {}): RequestReads {
  const store = withView(shared);
  let isBegun = false;
  const known = new KnownSnapshots(shared);

  /** Begins to read. Parts of the work before that still run read on in the view that they have. */
  function begin(): ReadView {
    if (isBegun) {
      forget();
      Object.assign(store, withView(shared));
    }
    isBegun = true;
    return store.view;
  }

  async function onSnapshot<T>(work: () => Promise<T>): Promise<T> {
    forget();
    const { snapshot } = Object.assign(store, withSnapshot(shared));
    try {
      return await work();
    } finally {
      // Those who read on, such as the checks of a stream, do not read the ended snapshot.
      Object.assign(store, withView(shared));
      await snapshot.end();
    }
  }

  return {
    store,
    asKnown: (atMs) => knownStore(store, known.of(store), atMs),
    async ofOneCommit(work, mayRepeat, isFinal = () => false) {
      for (let attempt = 0; mayRepeat && attempt < attempts; attempt++) {
        const begunAt = performance.now();
        const view = begin();
        const outcome = await outcomeOf(work().finally(() => known.end()));
        if ('result' in outcome && (await isOfOneCommit(view))) return outcome.result;
        if ('error' in outcome && (isFinal(outcome.error) || (await failedOfOneCommit(view)))) throw outcome.error;
        if (performance.now() - begunAt > longMs) break;
      }
      return onSnapshot(work);
    },
  };
}
