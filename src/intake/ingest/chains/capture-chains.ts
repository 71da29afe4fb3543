import { createHash } from 'node:crypto';
import { nextTradingDay, regularSession, tradingDayAtOrBefore } from '../../../core/domain/calendar.ts';
import { baseNameOf, type SourceFile } from '../../../core/domain/chain/capture-inputs.ts';
import type { ChainCapture } from '../../../core/domain/chain/chain.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { instantBounds, isWithin, outOfBounds } from '../../../core/domain/instant-gate.ts';
import { exchangeDate } from '../../../core/domain/market-time.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { Semaphore } from '../../../platform/runtime/semaphore.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { markLive } from '../../../store/market/session-origins.ts';
import { SessionSealed } from '../../../store/market/session-seals.ts';
import { beginOwnData } from '../../../store/origin.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { inSettledTransaction, type Transaction } from '../../../store/rows/transaction.ts';
import { asGeneration } from '../../../store/superseded/generation.ts';
import { parseChainJson } from '../../tape/chains/exchange-json.ts';
import { type BadLine, TapeFileError } from '../../tape/csv/tape-file.ts';
import type { IngestSettings } from '../files/file-job.ts';
import { noteFileGenerations } from '../files/generations.ts';
import { noGexNote, storeChain, withDelay } from './chain.ts';
import { type AnswerTag, type ChainSource, fetchChain, SourceFailure, type SourceLimits } from './chain-source.ts';

export interface CaptureSettings extends CaptureSchedule, SourceLimits, Pick<IngestSettings, 'gammaSource' | 'rate'> {
  /** Delay of the source's quotes, ms; absent = that of their format. */
  sourceDelayMs?: number;
  /** Maximum number of concurrent requests. */
  atOnce: number;
}

/** Dependencies of a capture run. */
export interface CaptureWorld {
  now: Clock;
  /** Aborted to stop: a request in progress is abandoned, a write in progress finishes. */
  stop: AbortSignal;
  /** Random number, 0…1, for the back-off. */
  random(): number;
  /** Waits a number of ms; ends early if `stop` is aborted. */
  sleep(ms: number, stop: AbortSignal): Promise<void>;
  log: CaptureLog;
}

/** Called with the result of every attempt, as text for people and as data for programs. */
export interface CaptureLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** Number of attempts by result. `unchanged`: the source had nothing new, or the store already had it. */
export interface CaptureCounts {
  captured: number;
  unchanged: number;
  failed: number;
}

// Tolerated lead of a source's clock; a chain stamped later is invalid.
const clockToleranceMs = 60_000;
// Longest sleep, so that a changed clock or a suspended machine is noticed.
const longestSleepMs = 30_000;

function iso(tsMs: number): string {
  return new Date(tsMs).toISOString();
}

/** Parses a received chain and checks it against the request. */
function readAnswer(
  symbol: string,
  bytes: Buffer,
  delayMs: number | null,
  { now, log, roots }: Pick<CaptureWorld, 'now' | 'log'> & { roots: OptionRoots },
): ChainCapture {
  const nowMs = now();
  let broken = 0;
  let first = '';
  const onBadLine = ({ line, reason }: BadLine) => {
    if (broken++ === 0) first = `option ${line}: ${reason}`;
  };
  const { capture } = parseChainJson(symbol, bytes, onBadLine, roots);
  if (capture.underlying !== symbol)
    throw new TapeFileError(symbol, `the source returned the chain of ${capture.underlying}`);
  if (capture.capturedAt > nowMs + clockToleranceMs)
    throw new TapeFileError(symbol, `the chain has a time in the future: ${iso(capture.capturedAt)}`);
  if (!isWithin(instantBounds(nowMs), capture.capturedAt))
    throw new TapeFileError(symbol, `time of the chain: ${outOfBounds(capture.capturedAt)}`);
  if (broken > 0) log.warn({ symbol, broken, first }, `${symbol}: ${broken} bad options were skipped`);
  return withDelay(capture, delayMs);
}

/** Result of an attempt; a failure contains the time of the retry. */
type Attempt = { ok: true } | { ok: false; lasting: boolean; retryAfterMs: number };

/** Captures one symbol's chains. */
class ChainCapturer {
  readonly symbol: string;
  readonly counts: CaptureCounts = { captured: 0, unchanged: 0, failed: 0 };
  readonly #store: Store;
  readonly #source: ChainSource;
  readonly #settings: CaptureSettings;
  readonly #world: CaptureWorld;
  /** Tag of the last chain that was stored. */
  #known: AnswerTag | null = null;

  constructor(store: Store, source: ChainSource, settings: CaptureSettings, world: CaptureWorld) {
    this.symbol = source.symbol;
    this.#store = store;
    this.#source = source;
    this.#settings = settings;
    this.#world = world;
  }

  /** Captures the chain once. Never throws but for `stop`. */
  async attempt(): Promise<Attempt> {
    try {
      await this.#capture();
      return { ok: true };
    } catch (error) {
      if (this.#world.stop.aborted) return { ok: true };
      return this.#failed(error);
    }
  }

  async #capture(): Promise<void> {
    const { symbol } = this;
    const { log, now, stop } = this.#world;
    const answer = await fetchChain(this.#source, this.#known, this.#settings, now, stop);
    if (answer === null) {
      this.counts.unchanged++;
      log.info({ symbol }, `${symbol}: the source has no new chain`);
      return;
    }
    const startMs = now();
    const { read: chain, chain: stored, changed, gex, note, notes } = await this.#save(answer.bytes);
    for (const each of notes) log.warn({}, each);
    if (note !== null) log.warn({ symbol }, `${symbol}: ${note}`);
    else if (!gex) log.warn({ symbol }, `${symbol}: ${noGexNote(stored)}`);
    // Only now: an answer that could not be stored must be asked for again.
    this.#known = answer.tag;
    this.counts[changed > 0 ? 'captured' : 'unchanged']++;
    const fields = { symbol, captured_at: iso(chain.capturedAt), contracts: chain.rows.length, partial: chain.partial };
    const took = { bytes: answer.bytes.length, store_ms: now() - startMs };
    log.info({ ...fields, ...took }, `${symbol}: ${changed > 0 ? 'captured' : 'this chain is already stored'}`);
  }

  async #read(tx: Transaction, bytes: Buffer): Promise<ChainCapture & { file: SourceFile }> {
    const roots = await readRoots(tx);
    const file = { name: baseNameOf(this.#source.url), sha256: createHash('sha256').update(bytes).digest('hex') };
    const delayMs = this.#settings.sourceDelayMs ?? null;
    return { ...readAnswer(this.symbol, bytes, delayMs, { ...this.#world, roots }), file };
  }

  #save(bytes: Buffer) {
    const { now } = this.#world;
    return inSettledTransaction(this.#store, (tx) =>
      asGeneration(tx, now, async () => {
        const notes = await beginOwnData(tx, now());
        const read = await this.#read(tx, bytes);
        const { underlying, sessionDate, file } = read;
        const stored = await storeChain(tx, read, this.#settings);
        await markLive(tx, [{ symbol: underlying, sessionDate }]);
        if (stored.rejection !== null) throw new TapeFileError(underlying, stored.rejection);
        const answer = { remade: stored.remade, source: { ...file, lines: null } };
        await noteFileGenerations(tx, 'chain', [answer], { made: 'file', ingestedMs: now() });
        return { ...stored, read, notes };
      }),
    );
  }

  #failed(error: unknown): Attempt {
    const { symbol, counts } = this;
    const { log } = this.#world;
    counts.failed++;
    const failure = error instanceof SourceFailure ? error : null;
    // A file error names the symbol itself.
    const reason =
      error instanceof TapeFileError ? error.message : `${symbol}: ${(error as Error).message || String(error)}`;
    log.warn({ symbol, reason, failed: counts.failed }, reason);
    if (!failure && !(error instanceof TapeFileError)) log.debug({ symbol, err: error }, 'the error');
    // A sealed session stays as it is: another is asked for at the next capture.
    const lasting = error instanceof SessionSealed || (failure?.lasting ?? false);
    return { ok: false, lasting, retryAfterMs: failure?.retryAfterMs ?? 0 };
  }
}

export type CaptureReport = Record<string, CaptureCounts>;

function reportOf(capturers: readonly { symbol: string; counts: CaptureCounts }[]): CaptureReport {
  return Object.fromEntries(capturers.map(({ symbol, counts }) => [symbol, counts]));
}

/** Captures each symbol's chain once, now, outside market hours too. */
export async function captureChainsOnce(
  store: Store,
  sources: readonly ChainSource[],
  settings: CaptureSettings,
  world: CaptureWorld,
): Promise<CaptureReport> {
  const requests = new Semaphore(settings.atOnce);
  const capturers = sources.map((source) => new ChainCapturer(store, source, settings, world));
  await Promise.all(capturers.map((capturer) => requests.run(() => capturer.attempt())));
  return reportOf(capturers);
}

/**
 * Captures chains until `stop` is aborted: immediately if the market is open, then by the schedule. Each chain is
 * stored and announced with its GEX capture, as by `ingest chain`. Symbols are independent: one that fails is retried
 * after a growing pause, or after the source's `Retry-After`; outside market hours nothing is requested.
 */
export async function captureChains(
  store: Store,
  sources: readonly ChainSource[],
  settings: CaptureSettings,
  world: CaptureWorld,
): Promise<CaptureReport> {
  const { now, stop, log } = world;
  const requests = new Semaphore(settings.atOnce);
  const capturers = sources.map((source) => new ChainCapturer(store, source, settings, world));

  async function until(dueMs: number): Promise<void> {
    while (!stop.aborted && now() < dueMs) await world.sleep(Math.min(dueMs - now(), longestSleepMs), stop);
  }

  /** Time of the next attempt after a number of consecutive failures. */
  function retryAt({ lasting, retryAfterMs }: Attempt & { ok: false }, failures: number): number {
    const at = now() + Math.max(retryAfterMs, backOffMs(failures, world.random()));
    return lasting || !isCaptureTime(at, settings) ? nextCapture(at, settings) : at;
  }

  await Promise.all(
    capturers.map(async (capturer) => {
      const { symbol } = capturer;
      let failures = 0;
      let dueMs = isCaptureTime(now(), settings) ? now() : nextCapture(now(), settings);
      if (dueMs > now())
        log.info({ symbol, due: iso(dueMs) }, `${symbol}: the market is closed; first capture ${iso(dueMs)}`);
      for (await until(dueMs); !stop.aborted; await until(dueMs)) {
        const result = await requests.run(async () => (stop.aborted ? null : capturer.attempt()));
        if (result === null || result.ok) {
          failures = 0;
          dueMs = nextCapture(Math.max(now(), dueMs) + 1, settings);
        } else {
          dueMs = retryAt(result, ++failures);
          log.info({ symbol, due: iso(dueMs), failures }, `${symbol}: next attempt ${iso(dueMs)}`);
        }
      }
    }),
  );
  return reportOf(capturers);
}

/** When chains are captured. */
export interface CaptureSchedule {
  /** Interval of captures, ms; the first is at the open. */
  everyMs: number;
  /** Delay of the source's hours after the market's, ms. */
  delayMs: number;
  /** True to capture at any hour, at the multiples of `everyMs` since 1970. */
  always: boolean;
}

/** The source's hours of the session at or before an instant. */
function hoursAt(tsMs: number, delayMs: number) {
  const date = tradingDayAtOrBefore(exchangeDate(tsMs - delayMs));
  const { openMs, closeMs } = regularSession(date)!;
  return { date, openMs: openMs + delayMs, closeMs: closeMs + delayMs };
}

/** True if an instant is within the source's market hours, excluding the close. */
export function isCaptureTime(tsMs: number, { delayMs, always }: CaptureSchedule): boolean {
  const { openMs, closeMs } = hoursAt(tsMs, delayMs);
  return always || (tsMs >= openMs && tsMs < closeMs);
}

/**
 * The first instant from `fromMs` on at which a capture is due: the open and every `everyMs` after it, before the close
 * (78 of 5 minutes, 42 of a half day).
 */
export function nextCapture(fromMs: number, { everyMs, delayMs, always }: CaptureSchedule): number {
  if (always) return Math.ceil(fromMs / everyMs) * everyMs;
  const { date, openMs, closeMs } = hoursAt(fromMs, delayMs);
  const due = openMs + Math.max(0, Math.ceil((fromMs - openMs) / everyMs)) * everyMs;
  return due < closeMs ? due : regularSession(nextTradingDay(date))!.openMs + delayMs;
}

const [firstPauseMs, longestPauseMs] = [2000, 300_000];

/**
 * Pause after a number of consecutive failures, ms: 2 s, doubled each time up to 5 minutes, less a random part of up to
 * half (`random` 0…1), so that callers spread.
 */
export function backOffMs(failures: number, random: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 20)) * (1 - random / 2);
}
