import type { Config } from '../../config/config.ts';
import type { Store } from '../../store/engine/connection.ts';
import { type CommonOptions, configOf } from './options.ts';
import { type Terminal, unlessInterrupted } from './terminal.ts';

/**
 * Opens the store of the settings, brings it up to date, does `work` with it, and always closes it, also when the
 * process is asked to end. Messages of the store go to stderr if detailed logs are requested.
 */
export async function withStore<T>(
  terminal: Terminal,
  options: CommonOptions,
  work: (store: Store, config: Config) => Promise<T>,
): Promise<T> {
  const config = configOf(terminal, options);
  const talkative = config.logLevel === 'debug' || config.logLevel === 'trace';
  const log = (line: string) => void (talkative && terminal.stderr.write(`${line}\n`));
  // Loaded here, so that help and usage errors need not wait for the database's libraries.
  const { openStore } = await import('../../store/engine/connection.ts');
  const { databaseUrl, dataDir } = config;
  const store = await openStore({ databaseUrl, dataDir, log, stop: terminal.interrupted });
  try {
    return await unlessInterrupted(terminal, work(store, config));
  } finally {
    await store.close();
  }
}
