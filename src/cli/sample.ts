import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Access } from '../access/open-access.ts';
import type { Config } from '../config.ts';
import { openFrom } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/connection.ts';
import { clockFrom } from './clock.ts';
import type { Closer } from './closing.ts';
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
      besideTape: true,
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

/** Lets the sample market trade by the server's clock, and returns what ends that. */
export function startLiveSample({ config, store, now, log }: Omit<SampleInto, 'terminal' | 'access'>): Closer {
  const stop = new AbortController();
  const running = import('../ingest/sample-live.ts').then(({ runSampleMarket }) =>
    runSampleMarket(store, {
      dataDir: config.dataDir,
      now,
      stop: stop.signal,
      onEvent: ({ text, error }) => (error === undefined ? log.info(text) : log.warn({ err: error }, text)),
    }),
  );
  const begin = () => stop.abort();
  return { name: 'the sample market', begin, close: () => running, atMostMs: 3000 };
}

/**
 * The clock of a sample market that trades at any hour: `clock` while the market is open by it, else one that reads the open of the next
 * session, or what a session that was begun so had come to. `clock` itself for a store that holds other data.
 */
export async function alwaysOpen(store: Store, clock: Clock): Promise<Clock> {
  const [{ sampleFact }, { holdsMarketData }, { latestLiveEvent }] = await Promise.all([
    import('../ingest/sample-market.ts'),
    import('../store/facts.ts'),
    import('../store/live-quotes.ts'),
  ]);
  if ((await sampleFact(store)) === null && (await holdsMarketData(store))) return clock;
  const nowMs = clock();
  const openMs = openFrom(nowMs);
  const reachedMs = (await latestLiveEvent(store)) ?? openMs;
  const startMs = reachedMs > openMs ? openFrom(reachedMs) : openMs;
  return startMs === nowMs ? clock : clockFrom(startMs, clock);
}
