import { contractSolves } from '../../core/analytics/chain/contract-solves.ts';
import { sessionOf } from '../../core/domain/calendar.ts';
import { type GreeksSample, type GreeksSolve, greeksSeriesLength, quoteAgeMs } from '../../core/domain/chain/greeks.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { roundTo } from '../../core/domain/units.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { contractLines } from '../../store/chain/contract-lines.ts';
import { readGreeksSeries, readLatestGreeks } from '../../store/chain/greeks.ts';
import { throughMs } from '../as-of.ts';
import { fromSource, type RequestContext, requireSource, rootsOf, underlyingOf, withUnderlyings } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { greeksSource, spanOf } from '../source-keys.ts';
import { requireContract } from './contract.ts';

/** A newest solve in served form (spec 2.9). */
export interface LatestGreeks extends GreeksSolve {
  /** ask − bid, dollars per share; null if either is null. */
  spread: number | null;
}

export interface GreeksPage {
  contract: OptionContract;
  latest: LatestGreeks | null;
  session: SessionDate | null;
}

export interface GreeksMeta extends ResponseMeta {
  /** Reason for an empty answer; null if it is not empty. */
  note: string | null;
}

/** Number of contracts whose solves are converted before a yield to the event loop: about 5 ms of work. */
const contractsPerYield = 20;

async function keysOf(context: RequestContext, contracts: readonly OptionContract[]) {
  const listed = await withUnderlyings(context, contracts);
  return listed.map(({ underlying, contract }) => ({ underlying, contract: contractId(contract) }));
}

async function storedSolves(context: RequestContext, contracts: readonly OptionContract[]) {
  if (!context.sources.option_tape) return new Map<string, GreeksSolve>();
  const range = { throughMs: context.nowMs, today: exchangeDate(context.nowMs) };
  const keys = await keysOf(context, contracts);
  return fromSource(context, 'option_tape', () => readLatestGreeks(context.store, keys, range));
}

/** The newer of a stored and a captured solve is the latest. */
async function readLatest(
  context: RequestContext,
  contracts: readonly OptionContract[],
): Promise<(GreeksSolve | null)[]> {
  const stored = await storedSolves(context, contracts);
  const captured = context.sources.chain ? await latestCapturedSolves(context, contracts) : [];
  return contracts.map((contract, i) => {
    const [a, b] = [stored.get(contractId(contract)) ?? null, captured[i] ?? null];
    return a === null || (b !== null && b.tsMs > a.tsMs) ? b : a;
  });
}

async function storedSeries(context: RequestContext, contracts: readonly OptionContract[]) {
  if (!context.sources.option_tape) return new Map<string, GreeksSample[]>();
  const range = { throughMs: context.nowMs, today: exchangeDate(context.nowMs), length: greeksSeriesLength };
  const keys = await keysOf(context, contracts);
  return fromSource(context, 'option_tape', () => readGreeksSeries(context.store, keys, range));
}

async function readSeries(context: RequestContext, contracts: readonly OptionContract[]): Promise<GreeksSample[][]> {
  const [stored, captured] = await Promise.all([
    storedSeries(context, contracts),
    Promise.all(contracts.map((one) => (context.sources.chain ? capturedSolves(context, one) : []))),
  ]);
  const series: GreeksSample[][] = [];
  for (const [i, contract] of contracts.entries()) {
    series.push(mergedSeries(stored.get(contractId(contract)) ?? [], captured[i]!));
    if (series.length % contractsPerYield === 0) await yieldToEventLoop();
  }
  return series;
}

/** A quote is shown while it is young enough for a mark: for the last solve of a session it no longer is. */
function served(solve: GreeksSolve, nowMs: number): LatestGreeks {
  const held = nowMs - solve.tsMs <= quoteAgeMs;
  const bid = held ? solve.bid : null;
  const ask = held ? solve.ask : null;
  // Rounded, because the difference of two doubles has spurious digits.
  return { ...solve, bid, ask, spread: bid === null || ask === null ? null : roundTo(ask - bid, 6) };
}

/** A contract's greeks (spec 4.11). The series is read on demand. */
export async function greeks(
  context: RequestContext,
  contract: OptionContract,
  session: SessionDate | null,
): Promise<GreeksPage> {
  await requireContract(context, contract);
  // Minute solves are based on the option tape, and every stored chain has all its contracts: either suffices.
  requireSource(context, 'option_tape', 'chain');
  const latest = await batched(context, 'greeks latest', contract, (all) => readLatest(context, all), contractId);
  return { contract, session, latest: latest && served(latest, context.nowMs) };
}

/** The last 390 samples; with a session, those of them within it. */
export async function greeksSeries(
  context: RequestContext,
  { contract, session }: GreeksPage,
): Promise<GreeksSample[]> {
  const samples = await batched(context, 'greeks series', contract, (all) => readSeries(context, all), contractId);
  // As everywhere, a capture of a Sunday belongs to Friday's session.
  return session === null ? samples : samples.filter((sample) => sessionOf(sample.tsMs) === session);
}

export async function greeksMeta(context: RequestContext, page: GreeksPage): Promise<GreeksMeta> {
  const solved = page.latest !== null || (await greeksSeries(context, page)).length > 0;
  return {
    // The newest solve is part of every answer, and a newer one may come at any time.
    ...responseMeta(context, 'live', [], async () => {
      const series = await greeksSeries(context, page);
      // Ascending: its ends are its span.
      const solves = [series[0], series.at(-1), page.latest].filter((solve) => solve != null);
      const span = spanOf(solves.map(({ tsMs }) => sessionOf(tsMs)));
      return span ? [greeksSource(await underlyingOf(context, page.contract), ...span)] : [];
    }),
    note: solved ? null : `${contractId(page.contract)} has not been solved yet.`,
  };
}

/** The solves in the last `captures` chain captures, ascending; null for a contract whose underlying has none. */
async function solvesOf(
  context: RequestContext,
  contracts: readonly OptionContract[],
  captures: number,
): Promise<(GreeksSolve[] | null)[]> {
  const [roots, listed] = await Promise.all([rootsOf(context), withUnderlyings(context, contracts)]);
  const range = { throughMs: throughMs(context), captures };
  const lines = await fromSource(context, 'chain', () => contractLines(context.store, listed, range));
  const solves: (GreeksSolve[] | null)[] = [];
  for (const contract of contracts) {
    const found = lines.get(contractId(contract));
    solves.push(found ? contractSolves(contract, found, roots) : null);
    if (solves.length % contractsPerYield === 0) await yieldToEventLoop();
  }
  return solves;
}

/**
 * The solves of a contract in its underlying's last 390 chain captures, ascending. Contracts of one request are read
 * together.
 */
async function capturedSolves(context: RequestContext, contract: OptionContract): Promise<GreeksSolve[]> {
  const read = (contracts: readonly OptionContract[]) => solvesOf(context, contracts, greeksSeriesLength);
  return (await batched(context, 'captured solves', contract, read, contractId)) ?? [];
}

/**
 * The newest captured solve of each contract; null for one never captured. The latest capture decides if it quotes the
 * contract; if it does not list it, or only earlier trades can give the mark, earlier captures are read too.
 */
async function latestCapturedSolves(
  context: RequestContext,
  contracts: readonly OptionContract[],
): Promise<(GreeksSolve | null)[]> {
  const newest = await solvesOf(context, contracts, 1);
  return Promise.all(
    contracts.map(async (contract, i) => {
      const solves = newest[i]!;
      if (solves === null) return null;
      if (solves.at(-1)?.markSource === 'mid') return solves.at(-1)!;
      return (await capturedSolves(context, contract)).at(-1) ?? null;
    }),
  );
}

/** Merges minute solves and captured solves, ascending: one per minute, the minute solve if there are both. */
function mergedSeries(stored: readonly GreeksSample[], captured: readonly GreeksSolve[]): GreeksSample[] {
  if (captured.length === 0) return [...stored];
  const byMinute = new Map<number, GreeksSample>();
  for (const solve of captured) {
    const tsMs = Math.floor(solve.tsMs / minuteMs) * minuteMs;
    byMinute.set(tsMs, { ...solve, tsMs });
  }
  for (const sample of stored) byMinute.set(sample.tsMs, sample);
  return [...byMinute.values()].sort((a, b) => a.tsMs - b.tsMs).slice(-greeksSeriesLength);
}
