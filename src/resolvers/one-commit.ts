import type { OneCommit } from '../runtime/one-commit.ts';
import { type Store, withSnapshot, withView } from '../store/rows/connection.ts';
import { sourceFailed } from '../wire/failure.ts';

/** Times that a request is answered from the store as it changes, before it is answered from a snapshot. */
const attempts = 3;

async function isOfOneCommit({ view }: Pick<ReturnType<typeof withView>, 'view'>): Promise<boolean> {
  try {
    return await view.isOfOneCommit();
  } catch (cause) {
    throw sourceFailed('commits', cause);
  }
}

/**
 * The store for a request, and the way to answers of one commit: `forget` drops what the request has read.
 */
export function readsOf(shared: Store, forget: () => void): OneCommit & { store: Store } {
  const store = withView(shared);
  async function onSnapshot<T>(work: () => Promise<T>): Promise<T> {
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
        const result = await work();
        if (await isOfOneCommit(store)) return result;
        forget();
        // Parts of it that still run read on in the view that they have.
        Object.assign(store, withView(shared));
      }
      return onSnapshot(work);
    },
  };
}
