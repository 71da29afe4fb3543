import { exclusively } from './rows/advisory-lock.ts';
import { openStore, type Store, type StoreOptions } from './rows/connection.ts';
import { readMetadata, writeMetadata } from './rows/metadata.ts';

/** An upgrade of the contents of an older release's store. If stopped, it starts again from the beginning. */
interface Upgrade {
  /** Metadata key that marks it as done. */
  key: string;
  run(store: Store, log: (line: string) => void): Promise<void>;
}

// Their modules are loaded only by the start that runs them.
const upgrades: readonly Upgrade[] = [
  {
    key: 'one_spelling_per_ticker',
    run: async (store, log) => (await import('./market/ticker-spellings.ts')).mergeTickerSpellings(store, log),
  },
  {
    key: 'store_origin',
    run: async (store, log) => (await import('./origin-upgrade.ts')).upgradeOrigin(store, log),
  },
];

async function upgrade(store: Store, log: (line: string) => void): Promise<void> {
  const keys = upgrades.map(({ key }) => key);
  const done = await store.prisma.metadataEntry.findMany({ where: { key: { in: keys } }, select: { key: true } });
  for (const { key, run } of upgrades) {
    if (done.some((each) => each.key === key)) continue;
    await exclusively(store, key, async () => {
      // Another process may have done it in the meantime.
      if ((await readMetadata(store, key)) !== null) return;
      await run(store, log);
      await writeMetadata(store, key, 'done');
    });
  }
}

/** Opens the store and brings its tables and contents to the code's version. */
export async function openCurrentStore(options: Omit<StoreOptions, 'migrate'>): Promise<Store> {
  const store = await openStore(options);
  try {
    await upgrade(store, options.log ?? (() => {}));
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
