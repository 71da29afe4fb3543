import { touchApiKeys } from '../../store/account/api-keys.ts';
import type { Store } from '../../store/rows/connection.ts';
import { startBatchWriter } from '../usage/batch-writer.ts';

/** Records when keys were last used. */
export interface KeyUse {
  used(keyId: string, atMs: number): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Interval of writes, ms: all keys in use cost one statement per interval. */
const flushMs = 3000;

/** Starts recording, with a write every 3 s. */
export function openKeyUse(store: Store, log: (line: string) => void): KeyUse {
  let gathered = new Map<string, number>();
  async function write(): Promise<boolean> {
    if (gathered.size === 0) return false;
    const taken = gathered;
    gathered = new Map();
    try {
      await touchApiKeys(store, taken);
      return true;
    } catch (error) {
      for (const [id, at] of taken) if (!gathered.has(id)) gathered.set(id, at);
      throw error;
    }
  }
  const batchWriter = startBatchWriter({
    what: 'last uses of API keys',
    everyMs: flushMs,
    write,
    log,
    wrote: store.writes.wrote,
  });
  return {
    used: (keyId, atMs) => {
      gathered.set(keyId, atMs);
    },
    ...batchWriter,
  };
}
