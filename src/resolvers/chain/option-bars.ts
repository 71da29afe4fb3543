import { tradingDayAtOrBefore } from '../../core/domain/calendar.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import { type Bar, type BarColumns, barAt, barColumns, timeframeMs } from '../../core/domain/market/bar.ts';
import { oneBar } from '../../core/domain/market/bar-aggregation.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { minutesShownBefore, withLast } from '../../live/served-bars.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { ColumnRows } from '../../platform/wire/column-rows.ts';
import {
  invalidParameter,
  knownFailure,
  providerUnavailable,
  sourceNotConfigured,
} from '../../platform/wire/failure.ts';
import { type OptionTimeframe, readOptionBarsOf } from '../../store/chain/option-bars.ts';
import { firstAtOrAfter, sliceBars } from '../../store/market/bar-blocks.ts';
import { ofAllInstants, type RequestContext, underlyingOf, withUnderlyings } from '../context.ts';
import { currentDate } from '../current-date.ts';
import { printPlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { optionBarSource } from '../source-keys.ts';
import { requireContract } from './contract.ts';

/** Number of bars in an answer: the default, and the maximum for every caller (spec 4.12). */
export const optionBarLimits = { default: 390, max: 2000 };

export interface OptionBarsArgs {
  timeframe?: OptionTimeframe | null | undefined;
  session?: SessionDate | null | undefined;
  limit?: number | null | undefined;
}

export interface OptionBarsMeta extends ResponseMeta {
  session: SessionDate;
  count: number;
  /** Reason for which there are no bars; null if there are any. */
  note: string | null;
  /** True if a larger limit was requested; null otherwise. */
  limitClamped: true | null;
}

export interface OptionBarsPage {
  contract: OptionContract;
  timeframe: OptionTimeframe;
  bars: BarColumns;
  meta: OptionBarsMeta;
}

/** All bars of a contract's session. */
async function readSession(
  context: RequestContext,
  contract: OptionContract,
  session: SessionDate,
  timeframe: OptionTimeframe,
): Promise<BarColumns> {
  const read = async (contracts: readonly OptionContract[]) =>
    readOptionBarsOf(context.store, await withUnderlyings(context, contracts), session, timeframe);
  const name = `option-bars ${session} ${timeframe}`;
  const found = await batched(ofAllInstants(context), name, contract, read, contractId);
  return found?.bars ?? barColumns(0);
}

/**
 * Option bars have a separate provider: if it is not reachable, the error is 503 `provider_unavailable`, not 502 (spec
 * 7).
 */
async function fromProvider<T>(context: RequestContext, read: () => Promise<T>): Promise<T> {
  if (!context.sources.option_bars) throw sourceNotConfigured('option_bars');
  try {
    return await read();
  } catch (cause) {
    throw knownFailure(cause) ?? providerUnavailable(cause);
  }
}

/**
 * The bars of a contract's session as of now: in a replay, the one in progress is built from ended minutes, the
 * shortest stored bars of a contract.
 */
async function shownBars(
  context: RequestContext,
  contract: OptionContract,
  session: SessionDate,
  timeframe: OptionTimeframe,
): Promise<BarColumns> {
  const { store, nowMs } = context;
  const all = await readSession(context, contract, session, timeframe);
  const bars = sliceBars(all, 0, firstAtOrAfter(all, nowMs + 1));
  const last = bars.tsMs.at(-1);
  const isInProgress = last !== undefined && last + timeframeMs[timeframe] > nowMs;
  if (!store.endedBarsOnly || !isInProgress) return bars;
  const minutes = timeframe === '1m' ? all : await readSession(context, contract, session, '1m');
  const [from, to] = [last, minutesShownBefore(store, nowMs)].map((ms) => firstAtOrAfter(minutes, ms));
  return withLast(bars, oneBar(sliceBars(minutes, from!, Math.max(from!, to!)), last));
}

/** The minute bars of a contract's session that had ended by now. */
export async function endedOptionBars(
  context: RequestContext,
  contract: OptionContract,
  session: SessionDate,
): Promise<BarColumns> {
  await requireContract(context, contract);
  return fromProvider(context, () => shownBars(context, contract, session, '1m'));
}

/** The newest bars of a contract's session (spec 4.12). */
export async function optionBars(
  context: RequestContext,
  contract: OptionContract,
  args: OptionBarsArgs,
): Promise<OptionBarsPage> {
  if (args.limit != null && args.limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  await requireContract(context, contract);
  const timeframe = args.timeframe ?? '1m';
  const session = args.session ?? tradingDayAtOrBefore(await currentDate(context));
  const clamped = (args.limit ?? 0) > optionBarLimits.max;
  const limit = Math.min(args.limit ?? optionBarLimits.default, optionBarLimits.max);
  const all = await fromProvider(context, () => shownBars(context, contract, session, timeframe));
  const bars = sliceBars(all, Math.max(0, all.tsMs.length - limit), all.tsMs.length);
  const count = bars.tsMs.length;
  await yieldForRows(count);
  return {
    contract,
    timeframe,
    bars,
    meta: {
      ...responseMeta(context, await printPlane(context, session), clamped ? ['limit_clamped'] : [], async () => [
        optionBarSource(await underlyingOf(context, contract), session),
      ]),
      session,
      count,
      note: count > 0 ? null : `No bars of ${contractId(contract)} are stored for the session ${session}.`,
      limitClamped: clamped ? true : null,
    },
  };
}

/** A page's bars as rows. */
export function optionBarRows({ bars }: OptionBarsPage): ColumnRows<Bar> {
  return new ColumnRows(bars.tsMs.length, (i) => barAt(bars, i), { ...bars });
}
