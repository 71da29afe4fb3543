import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Access } from '../../access/open-access.ts';
import type { Config } from '../../config/config.ts';
import { openFrom } from '../../domain/calendar.ts';
import type { SampleResult } from '../../ingest/sample/market.ts';
import type { Clock } from '../../runtime/clock.ts';
import { makeFolders } from '../../runtime/make-folders.ts';
import type { Store } from '../../store/engine/connection.ts';
import { clockFrom } from '../io/clock.ts';
import { createProgress } from '../io/progress.ts';
import { type Terminal, unlessInterrupted } from '../io/terminal.ts';
import { startMarket } from '../market-process.ts';
import type { Closer } from './shutdown.ts';

// A key is stored as a hash alone. The sample's is stored with the sample files, so that every start can show the same
// one.
async function sampleKey(access: Access, dataDir: string): Promise<string> {
  const { sampleAccount, sampleKeyName } = await import('../../store/account/own-data.ts');
  const file = join(dataDir, 'sample-key');
  const stored = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
  if (stored !== null) {
    const known = await access.authenticate(stored);
    if (known.state === 'ok' && known.caller.accountId === sampleAccount) return stored;
  }
  // Every tier, and attested: it reads all of the sample market.
  await access.accounts.set(sampleAccount, { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
  const { key } = await access.keys.create({ accountId: sampleAccount, name: sampleKeyName, expiresAt: null });
  makeFolders(dataDir);
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

/** How long the process that brings the market may take to end when this one is asked to, ms. */
const stopWithinMs = 3000;
/** How long to wait before the market trades again after a failure, and how often to look whether it has opened, ms. */
const retryMs = 5000;

// In a process of its own, which leaves nothing behind: making the market takes a gigabyte. None is started when
// nothing is missing.
async function bringMissing({ terminal, config, store, now, log }: Omit<SampleInto, 'access'>): Promise<SampleResult> {
  const [{ missingSample }, { sampleShape }] = await Promise.all([
    import('../../ingest/sample-metadata.ts'),
    import('../../sample/market/plan.ts'),
  ]);
  const missing = await missingSample(store, now(), { shape: sampleShape, besideTape: true });
  if (missing === null) return 'absent';
  if (missing.tasks.length === 0) return 'unchanged';
  // Where no progress is drawn, a line says what the start is waiting for.
  log.info('loading the sample market; the first time this takes a while');
  const progress = createProgress(terminal.stderr, terminal.now);
  const task = { work: 'bring', config, clockAheadMs: Math.round(now() - terminal.now()) } as const;
  const child = startMarket(task, progress.update);
  try {
    const result = await unlessInterrupted(terminal, child.ended);
    // It ended well without a message: another process asked it to end.
    if (result === null) throw new Error('the sample market: its process was stopped; the next start continues');
    return result;
  } finally {
    await child.stop(stopWithinMs);
    progress.done();
  }
}

/**
 * Brings the sample market into an empty store, or up to the server's clock where it was brought before, and returns a
 * key that reads all of it. Null = the store holds data of its own: it is left alone, and nobody is given a key to it;
 * one that was given before stops working.
 */
export async function bringSample({ terminal, config, store, access, now, log }: SampleInto): Promise<string | null> {
  const { endSampleKey, sampleKeyEnded } = await import('../../store/account/own-data.ts');
  const { dataDir } = config;
  if ((await bringMissing({ terminal, config, store, now, log })) === 'absent') {
    const { sampleMetadata } = await import('../../ingest/sample-metadata.ts');
    if ((await endSampleKey(store, now)) && (await sampleMetadata(store)) !== null) log.warn(sampleKeyEnded);
    return null;
  }
  const key = await sampleKey(access, dataDir);
  // Other data may have come in while the key was made.
  return (await endSampleKey(store, now)) ? null : key;
}

/**
 * Lets the sample market trade by the server's clock, each session in a process of its own, and returns what ends that.
 */
export function startLiveSample({ terminal, config, now, log }: Omit<SampleInto, 'store' | 'access'>): Closer {
  const stop = new AbortController();
  const { signal } = stop;
  const task = { work: 'trade', config, clockAheadMs: Math.round(now() - terminal.now()) } as const;
  async function run(): Promise<void> {
    const { sessionUnderWay } = await import('../../sample/market/plan.ts');
    while (!signal.aborted) {
      if (sessionUnderWay(now()) !== null) {
        const child = startMarket(task);
        const end = () => void child.stop(stopWithinMs);
        signal.addEventListener('abort', end, { once: true });
        await child.ended.catch((error: Error) => log.warn({ err: error }, 'the live sample market was interrupted'));
        signal.removeEventListener('abort', end);
      }
      await delay(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  const running = run();
  return {
    name: 'the sample market',
    begin: () => stop.abort(),
    close: () => {
      stop.abort();
      return running;
    },
    atMostMs: stopWithinMs + 500,
  };
}

/**
 * The clock of a sample market that trades at any hour: `clock` while the market is open by it, else one that reads the
 * open of the next session, or what a session that was begun so had come to. `clock` itself for a store that holds
 * other data.
 */
export async function alwaysOpen(store: Store, clock: Clock): Promise<Clock> {
  const [{ sampleMetadata }, { holdsMarketData }, { holdsOwnData }, { latestLiveEvent }] = await Promise.all([
    import('../../ingest/sample-metadata.ts'),
    import('../../store/engine/metadata.ts'),
    import('../../store/account/own-data.ts'),
    import('../../store/market/live-quotes.ts'),
  ]);
  if (await holdsOwnData(store)) return clock;
  if ((await sampleMetadata(store)) === null && (await holdsMarketData(store))) return clock;
  const nowMs = clock();
  const openMs = openFrom(nowMs);
  const reachedMs = (await latestLiveEvent(store)) ?? openMs;
  const startMs = reachedMs > openMs ? openFrom(reachedMs) : openMs;
  return startMs === nowMs ? clock : clockFrom(startMs, clock);
}
