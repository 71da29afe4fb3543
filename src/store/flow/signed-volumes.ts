import { contractId } from '../../core/domain/chain/option-contract.ts';
import { type ContractMinutes, eachContractBefore } from '../../core/domain/flow/contract-minutes.ts';
import type { Coverage } from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { readContractMinutes } from './contract-minutes.ts';
import { coverageKey, coveragesOf } from './sessions.ts';

/** Contracts that buyers and sellers initiated. */
export interface SignedVolume {
  bought: number;
  sold: number;
}

/** Signed volume of a session up to a minute. */
export interface SessionSignedVolume {
  /** By contract path form; a contract that did not trade is absent. */
  byContract: ReadonlyMap<string, SignedVolume>;
  /** True if a print of the session has a side, also a later one. */
  isSided: boolean;
  /** Coverage of the session, as of its last write. */
  coverage: Coverage;
}

/** True if a print of some minutes has a side. */
function hasSide(parts: readonly ContractMinutes[]): boolean {
  return parts.some(({ volume, unsided }) => volume.some((contracts, i) => contracts !== unsided[i]));
}

/**
 * The signed volume of underlyings in a session, over minutes that began before `beforeMs`; an underlying without
 * stored minutes is absent. Three statements at most; two more if no print before has a side.
 */
export async function readSignedVolumes(
  store: Store,
  underlyings: readonly string[],
  sessionDate: SessionDate,
  beforeMs: number,
): Promise<Map<string, SessionSignedVolume>> {
  const sessions = underlyings.map((underlying) => ({ underlying, sessionDate }));
  const stored = await readContractMinutes(store, sessions, beforeMs);
  const coverages = await coveragesOf(readFrom(store, 'flow', underlyings), sessions);
  const found = new Map<string, SessionSignedVolume>();
  for (const session of sessions) {
    const parts = stored.get(coverageKey(session));
    const coverage = coverages.get(coverageKey(session));
    if (!parts || !coverage) continue;
    const byContract = new Map<string, SignedVolume>();
    let isSided = false;
    for (const part of parts)
      eachContractBefore(part, beforeMs, (contract, sums) => {
        const id = contractId(contract);
        const before = byContract.get(id) ?? { bought: 0, sold: 0 };
        byContract.set(id, { bought: before.bought + sums.bought, sold: before.sold + sums.sold });
        isSided ||= sums.volume !== sums.unsided;
      });
    found.set(session.underlying, { byContract, isSided, coverage });
  }
  const open = sessions.filter(({ underlying }) => found.get(underlying)?.isSided === false);
  if (open.length === 0) return found;
  const whole = await readContractMinutes(store, open, Number.POSITIVE_INFINITY);
  for (const session of open) found.get(session.underlying)!.isSided = hasSide(whole.get(coverageKey(session)) ?? []);
  return found;
}
