import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Access } from '../../access/open-access.ts';
import { openFrom } from '../../core/domain/calendar.ts';
import type { SampleProgress, SampleResult } from '../../intake/ingest/sample/sample-market.ts';
import type { SampleShape } from '../../intake/sample/market/plan.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { makeFolders } from '../../platform/runtime/folders.ts';
import type { Store } from '../../store/rows/connection.ts';
import { clockFrom } from '../io/options.ts';
import { createProgress } from '../io/progress.ts';
import type { Terminal } from '../io/terminal.ts';
import { marketStopMs, runMarketProcess } from '../market-process.ts';
import type { MarketTask } from '../run-market.ts';
import type { Closer } from './shutdown.ts';

// A key is stored only as a hash. The sample's key is also stored with the sample files, so that every start can show
// the same one.
async function sampleKey(access: Access, dataDir: string): Promise<string> {
  const { sampleAccount, sampleKeyName } = await import('../../store/account/api-keys.ts');
  const file = join(dataDir, 'sample-key');
  const stored = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
  if (stored !== null) {
    const known = await access.authenticate(stored);
    if (known.state === 'ok' && known.caller.accountId === sampleAccount) return stored;
  }
  // Every tier, and attested: it reads the whole sample market.
  await access.accounts.set(sampleAccount, { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
  const { key } = await access.keys.create({ accountId: sampleAccount, name: sampleKeyName, expiresAt: null });
  makeFolders(dataDir);
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}

/** Revokes the sample market's key if the store holds other data. Returns true if it does. */
async function endSampleKey({ store, now, log }: Pick<SampleInto, 'store' | 'now' | 'log'>): Promise<boolean> {
  const [{ revokeSampleKeys, sampleKeyEnded }, { storeOrigin }, { inTransaction }] = await Promise.all([
    import('../../store/account/api-keys.ts'),
    import('../../store/market/session-origins.ts'),
    import('../../store/rows/transaction.ts'),
  ]);
  if ((await storeOrigin(store)) !== 'own') return false;
  const revoked = await inTransaction(store, (tx) => revokeSampleKeys(tx, now()));
  if (revoked !== null) log.warn(sampleKeyEnded);
  return true;
}

/** Wait before the market trades again after a failure, and interval at which its opening is checked, ms. */
const retryMs = 5000;

const nothingMissing = (key: string): ServedSample => ({
  key,
  latest: null,
  whole: Promise.resolve(),
  closer: { name: 'loading the sample market', close: async () => {} },
});

/**
 * Creates a key that reads the sample market, and starts to load the market into an empty store, or up to the server's
 * clock if it was loaded before. Null = the store holds other data: it is not changed, no key is created, and an
 * earlier one stops working.
 */
export async function bringSample(into: SampleInto): Promise<ServedSample | null> {
  const { config, store, access, now, log, shape } = into;
  const [{ announceSampleLoading, missingSample }, { sampleShape }, { exclusively }] = await Promise.all([
    import('../../intake/ingest/sample-metadata.ts'),
    import('../../intake/sample/market/plan.ts'),
    import('../../store/rows/advisory-lock.ts'),
  ]);
  const missing = await missingSample(store, now(), { shape: shape ?? sampleShape, besideTape: true });
  if (missing === null) {
    await endSampleKey(into);
    log.warn('the store holds other data: the sample market is not loaded');
    return null;
  }
  // Under a lock: of servers that start together, the second shows the key that the first created.
  const key = await exclusively(store, 'sample key', () => sampleKey(access, config.dataDir));
  // Other data may have been stored while the key was created.
  if (await endSampleKey(into)) return null;
  if (missing.tasks.length === 0) return nothingMissing(key);
  await announceSampleLoading(store, now, shape ?? sampleShape);
  return loadSample(into, key);
}

/**
 * Lets the sample market trade by the server's clock once it is stored `whole`, each session in a process of its own.
 * Returns the closer that stops it.
 */
export function startLiveSample(
  { terminal, config, store, now, log }: Omit<SampleInto, 'access'>,
  whole: Promise<void>,
): Closer {
  const stop = new AbortController();
  const { signal } = stop;
  const task = { work: 'trade', config, clockAheadMs: Math.round(now() - terminal.now()) } as const;
  async function run(): Promise<void> {
    await Promise.race([whole, once(signal, 'abort')]);
    const [{ sessionUnderWay }, { storeOrigin }] = await Promise.all([
      import('../../intake/sample/market/plan.ts'),
      import('../../store/market/session-origins.ts'),
    ]);
    // Other data stops it permanently, and its removal.
    while (!signal.aborted && (await storeOrigin(store).catch(() => 'sample')) === 'sample') {
      if (sessionUnderWay(now()) !== null) {
        await runMarketProcess(task, signal).catch((error: Error) =>
          log.warn({ err: error }, 'the live sample market was interrupted'),
        );
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
    atMostMs: marketStopMs + 500,
  };
}

/**
 * The clock of a sample market that trades at any hour: `clock` while the market is open by it, else one that reads the
 * open of the next session, or the instant that an earlier session of this kind had reached. `clock` itself for a store
 * with other data.
 */
export async function alwaysOpen(store: Store, clock: Clock): Promise<Clock> {
  const [{ storeOrigin }, { latestLiveEvent }] = await Promise.all([
    import('../../store/market/session-origins.ts'),
    import('../../store/market/live-quotes.ts'),
  ]);
  if ((await storeOrigin(store)) === 'own') return clock;
  const nowMs = clock();
  const openMs = openFrom(nowMs);
  const reachedMs = (await latestLiveEvent(store)) ?? openMs;
  const startMs = reachedMs > openMs ? openFrom(reachedMs) : openMs;
  return startMs === nowMs ? clock : clockFrom(startMs, clock);
}

/** The store for the sample market. */
interface SampleInto {
  terminal: Terminal;
  config: Config;
  store: Store;
  access: Access;
  now: Clock;
  log: Logger;
  /** A smaller market, for tests. */
  shape?: SampleShape | undefined;
}

/** A served sample market. */
interface ServedSample {
  /** The key that reads all of it. */
  key: string;
  /** Resolves when the latest session is stored; rejects if that fails; null = nothing is missing. */
  latest: Promise<void> | null;
  /** Resolves when all of it is stored; never, if loading was stopped. */
  whole: Promise<void>;
  /** Stops the loading. */
  closer: Closer;
}

/** Initial and maximum wait before an interrupted loading continues, ms. The wait doubles each time. */
const firstRetryMs = 5000;
const longestRetryMs = 60_000;

/** Loads until all is stored, or `signal` is aborted: then null. Throws if the latest session cannot be stored. */
async function loadAll(
  { terminal, config, now, log, shape }: SampleInto,
  signal: AbortSignal,
  onLatest: () => void,
): Promise<SampleResult | null> {
  const progress = createProgress(terminal.stderr, terminal.now, (line) => log.info(line));
  const clockAheadMs = Math.round(now() - terminal.now());
  const task: MarketTask = { work: 'bring', config, clockAheadMs, ...(shape && { shape }) };
  let hasLatest = false;
  const latestIsStored = () => {
    if (hasLatest) return;
    // An announcement starts on a clean line.
    progress.done();
    hasLatest = true;
    onLatest();
  };
  const onProgress = ({ fraction, ...state }: SampleProgress) => {
    if (state.hasLatest) latestIsStored();
    progress.update(`loading the sample market: ${hasLatest ? 'history' : 'the latest session'}`, fraction);
  };
  for (let waitMs = firstRetryMs; !signal.aborted; waitMs = Math.min(2 * waitMs, longestRetryMs)) {
    const ended = await runMarketProcess(task, signal, onProgress).catch((error: Error) => error);
    progress.done();
    if (signal.aborted) return null;
    if (ended !== null && !(ended instanceof Error)) {
      latestIsStored();
      return ended;
    }
    const failure = ended ?? new Error('the sample market: its process was stopped');
    if (!hasLatest) throw failure;
    log.warn({ err: failure }, `loading the sample market was interrupted; it continues in ${waitMs / 1000} s`);
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
  return null;
}

/**
 * Starts to load the missing part of the sample market, in a process of its own, because generating the market takes a
 * gigabyte. Once the latest session is stored, interrupted loading resumes by itself.
 */
function loadSample(into: SampleInto, key: string): ServedSample {
  const stop = new AbortController();
  const latest = Promise.withResolvers<void>();
  const whole = Promise.withResolvers<void>();
  latest.promise.catch(() => {});
  const loading = loadAll(into, stop.signal, latest.resolve).then((result) => {
    if (result === null) return;
    if (result === 'absent') into.log.warn('the store holds other data: the sample market is left as it is');
    else into.log.info('the sample market is loaded');
    whole.resolve();
  }, latest.reject);
  const close = () => {
    stop.abort();
    return loading;
  };
  const closer = { name: 'loading the sample market', close, atMostMs: marketStopMs + 500 };
  return { key, latest: latest.promise, whole: whole.promise, closer };
}
