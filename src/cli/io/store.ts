import type { Config } from '../../platform/config/config.ts';
import type { Store } from '../../store/rows/connection.ts';
import { type CommonOptions, configOf } from './options.ts';
import { type Terminal, unlessInterrupted } from './terminal.ts';

/**
 * Opens the store of the settings, brings it up to date, runs `work` with it, and always closes it, also when the
 * process is asked to end. Warnings of the store are written to stderr, its other messages only with detailed logs.
 */
export async function withStore<T>(
  terminal: Terminal,
  options: CommonOptions,
  work: (store: Store, config: Config) => Promise<T>,
): Promise<T> {
  const config = configOf(terminal, options);
  const talkative = config.logLevel === 'debug' || config.logLevel === 'trace';
  const log = (line: string) =>
    void ((talkative || line.startsWith('warning: ')) && terminal.stderr.write(`${line}\n`));
  // Loaded lazily, so that help and usage errors do not wait for the database's libraries.
  const { openCurrentStore } = await import('../../store/current-store.ts');
  const { databaseUrl, dataDir, keepSupersededMs } = config;
  const store = await openCurrentStore({ databaseUrl, dataDir, keepSupersededMs, log, stop: terminal.interrupted });
  try {
    return await unlessInterrupted(terminal, work(store, config));
  } finally {
    await store.close();
  }
}
