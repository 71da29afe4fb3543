import { tradingDayAtOrBefore } from '../../core/domain/calendar.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import { lastMinuteEnd } from '../../core/domain/flow/contract-minutes.ts';
import { type Coverage, coverageAt } from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { readSignedVolumes, type SessionSignedVolume, type SignedVolume } from '../../store/flow/signed-volumes.ts';
import { fromSource, type RequestContext, underlyingOf } from '../context.ts';
import { currentDate } from '../current-date.ts';
import { coverageAsOf } from '../publication.ts';
import { requireFlowOf } from './flow.ts';

/** Signed volume of a session's contracts up to an instant. */
export interface SignedVolumes extends SessionSignedVolume {
  /** The part of the session that was observed. */
  coverage: Coverage;
  /** End of the last minute that counts, epoch ms. */
  throughMs: number;
}

/**
 * Bought and sold contracts of an underlying's session over the whole minutes that ended by `atMs` (methodology 3, 11).
 * Null if nothing was observed by then, or if the session is stored without minutes, which earlier releases did, or
 * without any quote that tells a side. Throws 403 or 404 unless the caller may read the underlying's flow.
 */
export async function signedVolume(
  context: RequestContext,
  symbol: string,
  session: SessionDate,
  atMs: number,
): Promise<SignedVolumes | null> {
  await requireFlowOf(context, symbol);
  const throughMs = lastMinuteEnd(Math.min(atMs, context.nowMs));
  const found = await batched(context, `signed volume ${session} ${throughMs}`, symbol, (symbols) =>
    fromSource(context, 'option_tape', () => readSignedVolumes(context.store, symbols, session, throughMs)),
  );
  if (found === null || found.coverage.observedFromMs > Math.min(atMs, context.nowMs)) return null;
  if (!found.isSided) return null;
  return { ...found, throughMs, coverage: coverageAsOf(context, coverageAt(found.coverage, throughMs)) };
}

/** Bought and sold contracts of one contract's session so far. */
export interface ContractSignedVolume extends SignedVolume {
  sessionDate: SessionDate;
  /** Start of the observed span, and end of the last minute that counts, epoch ms. */
  observedFromMs: number;
  throughMs: number;
}

/** The signed volume of a contract in a session, by default the current one; null when unknown. */
export async function contractSignedVolume(
  context: RequestContext,
  contract: OptionContract,
  session: SessionDate | null,
): Promise<ContractSignedVolume | null> {
  const sessionDate = session ?? tradingDayAtOrBefore(await currentDate(context));
  const underlying = await underlyingOf(context, contract);
  const found = await signedVolume(context, underlying, sessionDate, context.nowMs);
  if (found === null) return null;
  const { throughMs, coverage, byContract } = found;
  const { bought, sold } = byContract.get(contractId(contract)) ?? { bought: 0, sold: 0 };
  return { sessionDate, observedFromMs: coverage.observedFromMs, throughMs, bought, sold };
}
