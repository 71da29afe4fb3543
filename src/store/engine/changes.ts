import { randomBytes } from 'node:crypto';
import type { Store } from './connection.ts';
import { listen, longestPayloadBytes, notify } from './notifications.ts';
import type { Reader } from './replicas.ts';
import { anyChange, type Change, subjects } from './subjects.ts';

// Every process hears here what stored data changed, in whichever process.
const channel = 'market_data';

const processId = randomBytes(6).toString('base64url');
let announced = 0;

/** A change as it is sent. */
interface Announcement {
  id: string;
  change: Change;
}

/** An announcement as text. Where the symbols are too many, the longest lists give way to "any symbol". */
function written(announcement: Announcement): string {
  const change = { ...announcement.change };
  for (;;) {
    const text = JSON.stringify({ ...announcement, change });
    if (Buffer.byteLength(text) <= longestPayloadBytes) return text;
    const [longest] = subjects.toSorted((a, b) => (change[b]?.length ?? -1) - (change[a]?.length ?? -1));
    change[longest!] = null;
  }
}

function isChange(value: unknown): value is Change {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([subject, symbols]) =>
      (subjects as readonly string[]).includes(subject) && (symbols === null || Array.isArray(symbols)),
  );
}

/** What an announcement says; one that is not understood (another version of the program sent it) may be of anything. */
function read(payload: string): { id: string | null; change: Change } {
  try {
    const { id, change } = JSON.parse(payload) as Partial<Announcement>;
    if (typeof id === 'string' && isChange(change)) return { id, change };
  } catch {}
  return { id: null, change: anyChange };
}

/** Tells every process of a change when the transaction commits, and never when it rolls back. Returns the announcement's id. */
export async function announce(tx: Pick<Reader, 'query'>, change: Change): Promise<string> {
  const id = `${processId}.${++announced}`;
  await notify(tx, channel, written({ id, change }));
  return id;
}

/** Moves this process's versions for a change that is committed, or with no `id` may be. */
export function moveVersions({ replicas, versions }: Store, change: Change, id: string | null): void {
  // Before anybody reads by the new versions: what is read then must not come from a standby that lacks the change.
  replicas?.changed();
  versions.move(change, id);
}

/** Follows changes of the stored data. */
export interface Changes {
  /** Calls `listener` for every change until the returned function is called. Changes that may have been missed are reported as `anyChange`. */
  onChange(listener: (change: Change) => void): () => void;
  /** Stops following; to be called before the store is closed. */
  stop(): Promise<void>;
}

/** Starts following changes: from now on what is read may be held (`store.versions`). */
export async function watchChanges(store: Store): Promise<Changes> {
  const { versions } = store;
  let listening = true;
  const stop = await listen(
    store,
    channel,
    (payload) => {
      const { id, change } = read(payload);
      versions.move(change, id);
    },
    // Called when the connection is lost and again when it is back: what changed in between was missed.
    () => {
      listening = !listening;
      versions.addLost(listening ? -1 : 1);
    },
  );
  versions.addListening(1);
  return {
    onChange: (listener) => versions.onChange(listener),
    async stop() {
      await stop();
      if (!listening) versions.addLost(-1);
      versions.addListening(-1);
    },
  };
}
