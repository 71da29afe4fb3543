import { type Bar, type BarColumns, barAt, barColumns } from '../../domain/bar.ts';
import { tradingDayAtOrBefore } from '../../domain/calendar.ts';
import { contractId, type OptionContract } from '../../domain/chain/option-contract.ts';
import { Failure, invalidParameter, providerUnavailable, sourceNotConfigured } from '../../domain/failure.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { batched } from '../../runtime/batched.ts';
import { yieldForRows } from '../../runtime/event-loop.ts';
import { type OptionTimeframe, readOptionBarsOf } from '../../store/chain/option-bars.ts';
import { firstAtOrAfter, sliceBars } from '../../store/market/bar-blocks.ts';
import type { RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta, sessionPlane } from '../response-meta.ts';
import { requireContract } from './contract.ts';

/** Bars an answer holds: the default, and the most for every caller (spec 4.12). */
export const optionBarLimits = { default: 390, max: 2000 };

export interface OptionBarsArgs {
  timeframe?: OptionTimeframe | null | undefined;
  session?: SessionDate | null | undefined;
  limit?: number | null | undefined;
}

export interface OptionBarsMeta extends ResponseMeta {
  session: SessionDate;
  count: number;
  /** Why there are no bars; null if there are any. */
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
  const read = (contracts: readonly OptionContract[]) => readOptionBarsOf(context.store, contracts, session, timeframe);
  const found = await batched(context, `option-bars ${session} ${timeframe}`, contract, read, contractId);
  return found?.bars ?? barColumns(0);
}

/** Option bars have a provider of their own: not reachable is 503 `provider_unavailable`, not 502 (spec 7). */
async function fromProvider<T>(context: RequestContext, read: () => Promise<T>): Promise<T> {
  if (!context.sources.option_bars) throw sourceNotConfigured('option_bars');
  try {
    return await read();
  } catch (cause) {
    throw cause instanceof Failure ? cause : providerUnavailable(cause);
  }
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
  const session = args.session ?? tradingDayAtOrBefore(exchangeDate(context.nowMs));
  const clamped = (args.limit ?? 0) > optionBarLimits.max;
  const limit = Math.min(args.limit ?? optionBarLimits.default, optionBarLimits.max);
  const all = await fromProvider(context, () => readSession(context, contract, session, timeframe));
  const end = firstAtOrAfter(all, context.nowMs + 1);
  const bars = sliceBars(all, Math.max(0, end - limit), end);
  const count = bars.tsMs.length;
  await yieldForRows(count);
  return {
    contract,
    timeframe,
    bars,
    meta: {
      ...responseMeta(context, sessionPlane(session, context.nowMs), clamped ? ['limit_clamped'] : []),
      session,
      count,
      note: count > 0 ? null : `No bars of ${contractId(contract)} are stored for the session ${session}.`,
      limitClamped: clamped ? true : null,
    },
  };
}

/** A page's bars as rows. */
export function optionBarRows({ bars }: OptionBarsPage): Bar[] {
  return Array.from(bars.tsMs, (_, index) => barAt(bars, index));
}
