import { randomBytes } from 'node:crypto';
import type { Store } from '../rows/connection.ts';
import type { Queries } from '../rows/statement.ts';
import { changesChannel, listen, longestPayloadBytes, notify } from './notifications.ts';
import { anyChange, type Change, type Subject, subjects } from './subjects.ts';
import { noteCommits } from './symbol-commits.ts';

const processId = randomBytes(6).toString('base64url');
let announced = 0;

/** A change in sent form. */
interface Announcement {
  id: string;
  change: Change;
}

// Servers of the previous release listen too while an upgrade replaces them. They read the symbols of `stocks`, `gex`
// and `flow` beside the id.
const sentNames: Readonly<Record<Subject, string>> = {
  ...(Object.fromEntries(subjects.map((subject) => [subject, subject])) as Record<Subject, string>),
  market: 'stocks',
};
const subjectsByName = new Map(subjects.map((subject) => [sentNames[subject], subject]));

/** An announcement as text. If there are too many symbols, the longest lists are replaced by "any symbol". */
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

/** The change of these lists by sent name; null if one of them is unknown. */
function changeOf(named: Record<string, unknown>): Change | null {
  const change: Change = {};
  for (const [name, symbols] of Object.entries(named)) {
    const subject = subjectsByName.get(name);
    if (subject === undefined || (symbols !== null && !Array.isArray(symbols))) return null;
    change[subject] = symbols;
  }
  return change;
}

/** Parses an announcement; an unknown one (from another version of the program) may concern anything. */
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
 * announcement's id, by which the change is noted with its symbols.
 */
export async function announce({ cluster }: Pick<Store, 'cluster'>, tx: Queries, change: Change): Promise<string> {
  const id = `${processId}.${++announced}`;
  await cluster.holdAnnouncement(tx, id);
  await noteCommits(tx, change, id);
  await notify(tx, changesChannel, written({ id, change }));
  return id;
}

/** Updates this process's versions for a change that is committed, or without `id` may be. */
export function moveVersions({ replicas, versions }: Store, change: Change, id: string | null): void {
  // Before the new versions are used: data read then must not be from a standby that lacks the change.
  replicas?.changed();
  versions.move(change, id);
}

/** Follows changes of the stored data. */
export interface Changes {
  /**
   * Calls `listener` for every change until the returned function is called. Possibly missed changes are reported as
   * `anyChange`.
   */
  onChange(listener: (change: Change) => void): () => void;
  /** Stops following; call it before the store is closed. */
  stop(): Promise<void>;
}

/** Starts following changes: from now on data may be cached (`store.versions`). */
export async function watchChanges(store: Store): Promise<Changes> {
  const { versions } = store;
  const nodes = store.cluster.watch(store);
  let listening = true;
  const stop = await listen(
    store,
    changesChannel,
    (payload) => {
      if (nodes.heard(payload)) return;
      const { id, change } = read(payload);
      nodes.whenCommitted(id, (known) => versions.move(change, known));
    },
    // Called when the connection is lost and again when it is back: changes in between were missed.
    () => {
      listening = !listening;
      versions.addLost(listening ? -1 : 1);
      if (listening) nodes.lookAgain();
    },
  );
  // Values read before the first check are not cached: without it, a quiet gateway would compute its first answers
  // twice.
  await nodes.doubt();
  versions.addListening(1);
  return {
    onChange: (listener) => versions.onChange(listener),
    async stop() {
      await stop();
      await nodes.stop();
      if (!listening) versions.addLost(-1);
      versions.addListening(-1);
    },
  };
}
