import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  const { key } = await access.keys.create({ accountId: sampleAccount, name: 'sample market', expiresAt: null });
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
}

/**
 * Brings the sample market into a store without market data, or up to now where it is there, and returns a key that reads all of it. A store
 * with other data is left as it is.
 */
export async function bringSample({ terminal, config, store, access, now }: SampleInto): Promise<string> {
  const progress = createProgress(terminal.stderr, terminal.now);
  try {
    const { ensureSampleMarket } = await import('../ingest/sample-market.ts');
    await ensureSampleMarket(store, {
      dataDir: config.dataDir,
      now,
      onProgress: ({ label, fraction }) => progress.update(label, fraction),
      signal: terminal.interrupted,
    });
  } finally {
    progress.done();
  }
  await access.accounts.set(sampleAccount, { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
  return sampleKey(access, config.dataDir);
}
