import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Access } from '../access/open-access.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/connection.ts';
import { createProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** The account that reads the sample market: every tier, and attested. */
export const sampleAccount = 'sample';

// A key is stored as a hash alone. The sample's is kept beside the sample files, so that every start can show the same one.
async function sampleKey(access: Access, dataDir: string): Promise<string> {
  const file = join(dataDir, 'sample-key');
  const kept = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
  if (kept !== null) {
    const known = await access.authenticate(kept);
    if (known.state === 'ok' && known.caller.accountId === sampleAccount) return kept;
  }
  await access.accounts.set(sampleAccount, { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
  const { key } = await access.keys.create({ accountId: sampleAccount, name: 'sample market', expiresAt: null });
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}

/** What the sample market is brought into. */
export interface SampleInto {
  terminal: Terminal;
  config: Config;
  store: Store;
  access: Access;
  now: Clock;
  log: Logger;
}

/**
 * Brings the sample market into an empty store, or up to the server's clock where it was brought before, and returns a key that
 * reads all of it. Null = the store holds data of its own: it is left alone, and nobody is given a key to it.
 */
export async function bringSample({ terminal, config, store, access, now, log }: SampleInto): Promise<string | null> {
  const { ensureSampleMarket } = await import('../ingest/sample-market.ts');
  const { dataDir } = config;
  const progress = createProgress(terminal.stderr, terminal.now);
  let told = false;
  try {
    const outcome = await ensureSampleMarket(store, {
      dataDir,
      now,
      signal: terminal.interrupted,
      onProgress: ({ label, fraction }) => {
        // Where no progress is drawn, a line says what the start is waiting for.
        if (!told) log.info('bringing the sample market up to now; the first time this takes a while');
        told = true;
        progress.update(label, fraction);
      },
    });
    if (outcome === 'absent') return null;
  } finally {
    progress.done();
  }
  return sampleKey(access, dataDir);
}
