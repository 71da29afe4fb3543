import type { OneCommit } from '../../runtime/once-per-request.ts';
import { sourceFailed } from '../../wire/failure.ts';
import { type Store, withSnapshot, withView } from '../rows/connection.ts';
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

/**
 * A store whose reads are those of one request, or of one read of a live topic after the other; `forget` drops what was
 * read, when it is read again.
 */
export function readsOf(shared: Store, forget: () => void = () => {}): OneCommit & { store: Store } {
  const store = withView(shared);
  let isBegun = false;

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
      await snapshot.end();
    }
  }

  return {
    store,
    async ofOneCommit(work, mayRepeat) {
      for (let attempt = 0; mayRepeat && attempt < attempts; attempt++) {
        const begunAt = performance.now();
        const view = begin();
        const result = await work();
        if (await isOfOneCommit(view)) return result;
        if (performance.now() - begunAt > longMs) break;
      }
      return onSnapshot(work);
    },
  };
}
