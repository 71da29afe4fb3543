import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { watchSettling } from '../cluster/unsettled-commits.ts';
import type { Store } from '../rows/connection.ts';
import { lock, untilFree } from '../rows/locks.ts';
import type { Queries } from '../rows/statement.ts';
import { listen, longestPayloadBytes, notify } from './notifications.ts';
import { anyChange, type Change, type Subject, subjects } from './subjects.ts';

// On this channel every process is notified of changes of stored data by any process.
const channel = 'market_data';

const processId = randomBytes(6).toString('base64url');
let announced = 0;

/** A change as it is sent. */
interface Announcement {
  id: string;
  change: Change;
}

// Servers of the release before hear too while an upgrade replaces them. They read the symbols of `stocks`, `gex` and
// `flow` beside the id.
const sentNames: Readonly<Record<Subject, string>> = {
  ...(Object.fromEntries(subjects.map((subject) => [subject, subject])) as Record<Subject, string>),
  market: 'stocks',
};
const subjectsByName = new Map(subjects.map((subject) => [sentNames[subject], subject]));

/** An announcement as text. Where the symbols are too many, the longest lists give way to "any symbol". */
function written({ id, change: given }: Announcement): string {
  const change = { ...given };
  for (;;) {
    const named = Object.entries(change).map(([subject, symbols]) => [sentNames[subject as Subject], symbols]);
    const text = JSON.stringify({ id, ...Object.fromEntries(named) });
    if (Buffer.byteLength(text) <= longestPayloadBytes) return text;
    const [longest] = subjects.toSorted((a, b) => (change[b]?.length ?? -1) - (change[a]?.length ?? -1));
    change[longest!] = null;
  }
}

/** The change that these lists by sent name are; null when one of them is not understood. */
function changeOf(named: Record<string, unknown>): Change | null {
  const change: Change = {};
  for (const [name, symbols] of Object.entries(named)) {
    const subject = subjectsByName.get(name);
    if (subject === undefined || (symbols !== null && !Array.isArray(symbols))) return null;
    change[subject] = symbols;
  }
  return change;
}

/**
 * Reads an announcement; one that is not understood (another version of the program sent it) may be of anything.
 */
function read(payload: string): { id: string | null; change: Change } {
  try {
    const { id, ...named } = JSON.parse(payload) as Record<string, unknown>;
    const change = changeOf(named);
    if (typeof id === 'string' && change !== null) return { id, change };
  } catch {}
  return { id: null, change: anyChange };
}

/**
 * Notifies every process of a change when the transaction commits, and never when it rolls back. Returns the
 * announcement's id.
 */
export async function announce(tx: Queries, change: Change): Promise<string> {
  const id = `${processId}.${++announced}`;
  if (tx.symbolsAtOnce > 0) await lock(tx, lockOf(id));
  await notify(tx, channel, written({ id, change }));
  return id;
}

// On a distributed PostgreSQL (Citus) a worker commits after the coordinator. An announcement is sent after both. But
// another announcement can wake a listener in between, which then receives this one too early and would read the old
// data. So the announcing transaction holds a lock, which PostgreSQL releases last, and listeners wait for it.
const lockOf = (id: string) => `announcement ${id}`;
const retryMs = 1000;

/** Moves the versions for an announced change once every node has committed it. `isOver`: nobody listens any more. */
async function moveWhenCommitted(
  { primary, versions }: Store,
  { id, change }: Announcement,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    try {
      await untilFree(primary, lockOf(id));
      versions.move(change, id);
      return;
    } catch {
      // It is not known yet: what was read meanwhile is not held for long.
      versions.move(change);
      await delay(retryMs, undefined, { ref: false });
    }
  }
}

// On this name every process is notified that the store's tables are being distributed over nodes. Servers of the
// release before take it for a change of anything.
const nodesPayload = JSON.stringify({ id: 'nodes', nodes: true });

/** Tells every process that the tables are about to be spread over nodes. */
export async function announceNodes(store: Store): Promise<void> {
  await notify(store, channel, nodesPayload);
}

const doubtPayload = JSON.stringify({ id: 'doubt', doubt: true });

/** Tells every process that a commit was not answered by every node: some may not have it until they are back. */
export async function announceDoubt(tx: Queries): Promise<void> {
  // A commit is not undone by a failure of this; listeners have lost their connection too.
  await notify(tx, channel, doubtPayload).catch(() => {});
}

/** Moves this process's versions for a change that is committed, or with no `id` may be. */
export function moveVersions({ replicas, versions }: Store, change: Change, id: string | null): void {
  // Before anybody reads by the new versions: what is read then must not come from a standby that lacks the change.
  replicas?.changed();
  versions.move(change, id);
}

/** Follows changes of the stored data. */
export interface Changes {
  /**
   * Calls `listener` for every change until the returned function is called. Changes that may have been missed are
   * reported as `anyChange`.
   */
  onChange(listener: (change: Change) => void): () => void;
  /** Stops following; to be called before the store is closed. */
  stop(): Promise<void>;
}

/** Starts following changes: from now on what is read may be held (`store.versions`). */
export async function watchChanges(store: Store): Promise<Changes> {
  const { versions } = store;
  const settling = watchSettling(store);
  let listening = true;
  let stopped = false;
  const stop = await listen(
    store,
    channel,
    (payload) => {
      if (payload === nodesPayload) {
        store.nodes.lookAgain();
        return;
      }
      if (payload === doubtPayload) {
        void settling.doubt();
        return;
      }
      const { id, change } = read(payload);
      if (id === null || store.primary.symbolsAtOnce === 0) versions.move(change, id);
      else void moveWhenCommitted(store, { id, change }, () => stopped);
    },
    // Called when the connection is lost and again when it is back: what changed in between was missed.
    () => {
      listening = !listening;
      versions.addLost(listening ? -1 : 1);
      if (!listening) return;
      store.nodes.lookAgain();
      void settling.doubt();
    },
  );
  // Values read before the first look are not held: without it, the answers of a quiet gateway would be made twice.
  await settling.doubt();
  versions.addListening(1);
  return {
    onChange: (listener) => versions.onChange(listener),
    async stop() {
      stopped = true;
      await stop();
      await settling.stop();
      if (!listening) versions.addLost(-1);
      versions.addListening(-1);
    },
  };
}
