// The streams of all tabs of a browser as few as can be: what several tabs listen to is asked for once.
import type { LiveOperation, LiveParts, LiveState } from './live-link.ts';

/** A subscription of a tab. */
export interface TabSubscription {
  url: string;
  key: string;
  operations: readonly Omit<LiveOperation, 'onData'>[];
}

/**
 * Messages to a tab: the state of its stream, that it is back after it was lost, or data of one of its operations.
 */
export type TabMessage = { state: LiveState } | { returned: true } | { name: string; data: Record<string, unknown> };

interface Tab {
  subscription: TabSubscription;
  /** Ids of its operations by their names. */
  ids: Map<string, string>;
  send: (message: TabMessage) => void;
  seenMs: number;
}

/** A connection, and the operations it was opened for. */
interface Connection {
  url: string;
  key: string;
  ids: readonly string[];
  state: LiveState;
  close: () => void;
}

export interface SharedStreamsParts {
  open: (parts: LiveParts) => () => void;
  now: () => number;
  random: () => number;
  /** Runs what is to be done once changes that come together are all there. */
  soon: (run: () => void) => void;
}

/** Operations that one connection may bring. */
const mostTogether = 20;
/** A tab that sent nothing for this long is gone, ms. */
const goneAfterMs = 60_000;

/**
 * The streams of a browser. A tab says again and again what it listens to, and is forgotten when it stops saying so.
 */
export class SharedStreams {
  readonly #parts: SharedStreamsParts;
  readonly #tabs = new Map<unknown, Tab>();
  readonly #operations = new Map<string, Omit<LiveOperation, 'onData'>>();
  #connections: Connection[] = [];
  // Those whose operations others have taken over, until these are open.
  #retiring: Connection[] = [];
  #planned = false;
  #named = 0;

  constructor(parts: SharedStreamsParts) {
    this.#parts = parts;
  }

  /** A tab listens, or still does. */
  subscribe(tab: unknown, subscription: TabSubscription, send: Tab['send']): void {
    const seenMs = this.#parts.now();
    const known = this.#tabs.get(tab);
    if (known) known.seenMs = seenMs;
    else {
      const ids = new Map(
        subscription.operations.map((operation) => [operation.name, this.#idOf(subscription, operation)]),
      );
      const entry = { subscription, ids, send, seenMs };
      this.#tabs.set(tab, entry);
      send({ state: this.#stateOf(entry) });
    }
    for (const [other, { seenMs: last }] of this.#tabs) if (seenMs - last > goneAfterMs) this.#tabs.delete(other);
    this.#plan();
  }

  /** A tab listens no more. */
  unsubscribe(tab: unknown): void {
    if (this.#tabs.delete(tab)) this.#plan();
  }

  #idOf({ url, key }: TabSubscription, { query, variables }: Omit<LiveOperation, 'onData'>): string {
    const id = JSON.stringify([url, key, query, variables]);
    // The server takes short names.
    if (!this.#operations.has(id)) this.#operations.set(id, { name: `o${++this.#named}`, query, variables });
    return id;
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#parts.soon(() => {
      this.#planned = false;
      this.#connect();
    });
  }

  /** The connections there should be: for each key, all operations that its tabs listen to, so many to a connection. */
  #wanted(): Pick<Connection, 'url' | 'key' | 'ids'>[] {
    const byKey = new Map<string, { url: string; key: string; ids: Set<string> }>();
    for (const { subscription, ids } of this.#tabs.values()) {
      const { url, key } = subscription;
      const group = byKey.get(`${url} ${key}`) ?? { url, key, ids: new Set() };
      for (const id of ids.values()) group.ids.add(id);
      byKey.set(`${url} ${key}`, group);
    }
    return [...byKey.values()].flatMap(({ url, key, ids }) => {
      const all = [...ids];
      const count = Math.ceil(all.length / mostTogether);
      return Array.from({ length: count }, (_, i) => ({
        url,
        key,
        ids: all.slice(i * mostTogether, (i + 1) * mostTogether),
      }));
    });
  }

  #connect(): void {
    const wanted = this.#wanted();
    const same = (one: Pick<Connection, 'ids'>, other: Pick<Connection, 'ids'>) =>
      one.ids.length === other.ids.length && one.ids.every((id) => other.ids.includes(id));
    const stays = this.#connections.filter((one) => wanted.some((other) => same(one, other)));
    const fresh = wanted.filter((one) => !stays.some((other) => same(one, other)));
    this.#retiring.push(...this.#connections.filter((one) => !stays.includes(one)));
    this.#connections = stays;
    for (const one of fresh) this.#open(one);
    this.#retire();
    this.#say();
    const used = new Set([...this.#connections, ...this.#retiring].flatMap(({ ids }) => ids));
    for (const id of this.#operations.keys()) if (!used.has(id)) this.#operations.delete(id);
  }

  #open(wanted: Pick<Connection, 'url' | 'key' | 'ids'>): void {
    const connection: Connection = { ...wanted, state: 'connecting', close: () => {} };
    this.#connections.push(connection);
    const { url, key, ids } = wanted;
    connection.close = this.#parts.open({
      url,
      key,
      operations: ids.map((id) => ({ ...this.#operations.get(id)!, onData: (data) => this.#hear(id, data) })),
      random: this.#parts.random,
      onState: (state) => {
        connection.state = state;
        this.#retire();
        this.#say();
      },
      onReturn: () => this.#listeners(ids, ({ send }) => send({ returned: true })),
    });
  }

  /**
   * A replaced stream is closed once its successor is open: no event is missed between them. Events that come twice
   * change nothing.
   */
  #retire(): void {
    if (this.#connections.some(({ state }) => state === 'connecting')) return;
    for (const { close } of this.#retiring.splice(0)) close();
  }

  #listeners(ids: readonly string[], tell: (tab: Tab, names: string[]) => void): void {
    for (const tab of this.#tabs.values()) {
      const names = [...tab.ids].filter(([, id]) => ids.includes(id)).map(([name]) => name);
      if (names.length > 0) tell(tab, names);
    }
  }

  #hear(id: string, data: Record<string, unknown>): void {
    this.#listeners([id], ({ send }, names) => {
      for (const name of names) send({ name, data });
    });
  }

  /** State of a tab's streams: live when all of them are. */
  #stateOf({ ids }: Tab): LiveState {
    const own = [...ids.values()];
    const carriers = this.#connections.filter((one) => one.ids.some((id) => own.includes(id)));
    const carried = carriers.flatMap((one) => one.ids);
    if (!own.every((id) => carried.includes(id))) return 'connecting';
    return carriers.find(({ state }) => state !== 'live')?.state ?? 'live';
  }

  #say(): void {
    for (const tab of this.#tabs.values()) tab.send({ state: this.#stateOf(tab) });
  }
}
