// The page's state: one object, replaced as a whole, with listeners.
import { useEffect, useState } from 'preact/hooks';

export interface Store<State> {
  get: () => State;
  /** Replaces some entries; listeners are called immediately. */
  set: (change: Partial<State>) => void;
  listen: (heard: () => void) => () => void;
}

/** A store that begins with `initial`. */
export function createStore<State extends object>(initial: State): Store<State> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set: (change) => {
      state = { ...state, ...change };
      for (const heard of [...listeners]) heard();
    },
    listen: (heard) => {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
  };
}

/**
 * The part of the state that `select` returns; the component is drawn again only when that is another object or value.
 */
export function useStore<State extends object, Selected>(
  store: Store<State>,
  select: (state: State) => Selected,
): Selected {
  const [selected, setSelected] = useState(() => ({ value: select(store.get()) }));
  useEffect(() => {
    const look = () => {
      const value = select(store.get());
      setSelected((before) => (Object.is(before.value, value) ? before : { value }));
    };
    look();
    return store.listen(look);
  }, [store]);
  return selected.value;
}

/** Some entries of the state; the component is drawn again only when one of these changes. `names` must not change. */
export function useEntries<State extends object, Name extends keyof State>(
  store: Store<State>,
  names: readonly Name[],
): Pick<State, Name> {
  const [entries, setEntries] = useState<State>(store.get);
  useEffect(() => {
    const look = () =>
      setEntries((before) => {
        const now = store.get();
        return names.some((name) => !Object.is(before[name], now[name])) ? now : before;
      });
    look();
    return store.listen(look);
  }, [store]);
  return entries;
}
