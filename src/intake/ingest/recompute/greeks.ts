import { isDeepStrictEqual } from 'node:util';
import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import { minuteMarket } from '../../../core/analytics/minute/minute-market.ts';
import { type FollowedContract, minuteSolve } from '../../../core/analytics/minute/solve.ts';
import type { KnownGroups } from '../../../core/analytics/pricing/group-market.ts';
import type { MarketReference } from '../../../core/analytics/pricing/market-reference.ts';
import type { GreeksSolve } from '../../../core/domain/chain/greeks.ts';
import { readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { sessionPart } from '../../../core/domain/generation.ts';
import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import { saveGreeksMinutes, type WrittenMinute } from '../../../store/chain/greeks-minutes.ts';
import { outdatedMinutes, ratesOfMinutes, unpricedMinutes } from '../../../store/chain/minute-versions.ts';
import { type SolvedMinute, solvedMinuteAt } from '../../../store/chain/solved-minutes.ts';
import { lockFlow } from '../../../store/flow/sessions.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import type { Store } from '../../../store/rows/connection.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { MinuteMarketSource } from '../chains/minute-market.ts';
import { solveWithMinutes } from '../chains/write-chain.ts';
import type { RecomputedWork, RecomputeWork, UnderlyingSession } from './session-work.ts';

/** Number of contracts solved before a yield to the event loop: about 20 ms. */
const contractsPerYield = 200;

/** Sessions with minutes that were solved by an older version, or without a price of the underlying. */
export async function sessionsOfGreeks(store: Store): Promise<UnderlyingSession[]> {
  const found = [
    ...(await outdatedMinutes(store, methodologyVersion)),
    ...(await unpricedMinutes(store.primary, null)),
  ];
  const bySession = new Map(found.map((each) => [`${each.session} ${each.underlying}`, each]));
  return [...bySession.keys()].sort().map((key) => bySession.get(key)!);
}

/**
 * A followed contract at a minute. The solve contains the inputs of its mark: the quote, a trade or a close. Their age
 * was within bounds.
 */
function followedAt(id: string, { tsMs, mark, markSource, bid, ask }: GreeksSolve): FollowedContract {
  return {
    contract: readOptionContract(id)!,
    quote: bid === null && ask === null ? null : { bid, ask, tsMs },
    trade: markSource === 'last' ? { price: mark, tsMs, eligible: true } : null,
    previousClose: markSource === 'close' ? mark : null,
  };
}

interface MinuteWork extends Pick<RecomputeWork, 'check'> {
  roots: OptionRoots;
  reference: MarketReference;
  chain: KnownGroups;
}

/** Solves a minute again from its stored marks, quotes and price of the underlying, or one that came since. */
async function solveAgain(minute: SolvedMinute, work: MinuteWork): Promise<WrittenMinute> {
  const { reference, chain, roots, check } = work;
  const { underlying, tsMs, spot } = minute;
  const followed = Array.from(minute.solves, ([id, solve]) => ({ id, contract: followedAt(id, solve) }));
  const market = minuteMarket(
    followed.map(({ contract }) => contract),
    { underlying, tsMs, spot, reference, chain, roots },
  );
  const solves = new Map<string, GreeksSolve>();
  for (const [i, { id, contract }] of followed.entries()) {
    if (i % contractsPerYield === 0) {
      await yieldToEventLoop();
      check();
    }
    const solve = minuteSolve(contract, market);
    if (solve !== null) solves.set(id, solve);
  }
  return { underlying, tsMs, spot, rate: reference.rate, methodologyVersion, solves };
}

/**
 * Solves the minutes of a session again, in order of time, each with its former rate, and then the dependent chains.
 * Returns the number of different minutes.
 */
export async function recomputeGreeks(
  tx: Transaction,
  { underlying, session }: UnderlyingSession,
  { rate: usualRate, check }: Pick<RecomputeWork, 'rate' | 'check'>,
): Promise<RecomputedWork> {
  await lockFlow(tx);
  const sources = new Map<number, MinuteMarketSource>();
  const slots = new Map();
  const roots = await readRoots(tx);
  let changed = 0;
  for (const { tsMs, rate: ownRate } of await ratesOfMinutes(tx, underlying, session)) {
    const rate = ownRate ?? usualRate;
    const source = sources.get(rate) ?? new MinuteMarketSource({ from: tx, session, rate, roots });
    sources.set(rate, source);
    const minute = (await solvedMinuteAt(tx, underlying, session, tsMs))!;
    const spot = minute.spot ?? (await source.spots(tsMs, [underlying])).get(underlying) ?? null;
    const [reference, chain] = [await source.reference(underlying), await source.groups(tsMs, underlying)];
    const solved = await solveAgain({ ...minute, spot }, { reference, chain, roots, check });
    await saveGreeksMinutes(tx, session, [solved], slots);
    if (!isDeepStrictEqual(solved.solves, minute.solves)) changed++;
  }
  await solveWithMinutes(tx, { underlying, sessionDate: session, fromMs: Number.MIN_SAFE_INTEGER }, usualRate);
  return { changed, moved: null, parts: changed > 0 ? [sessionPart(underlying, session)] : [] };
}
