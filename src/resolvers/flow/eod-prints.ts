import { requireFlow } from '../../access/entitlement/entitlement.ts';
import { contractId, type OptionContract, type OptionRight } from '../../core/domain/chain/option-contract.ts';
import {
  type CoverageStatus,
  type RankedList,
  type RankedListName,
  type RankedPrint,
  rankedListSize,
} from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { requireServedWindow } from '../../core/domain/served-window.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { readRankedLists, wholeList } from '../../store/flow/ranked-prints.ts';
import { fromSource, ofAllInstants, type RequestContext, registeredSymbol, underlyingOf } from '../context.ts';
import { lastListedSession } from '../publication.ts';
import { printPlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { flowSource, sourcesOfRows } from '../source-keys.ts';
import { requireFlowFilter, requireFlowOf } from './flow.ts';

export interface EodFilters {
  symbol?: string | null | undefined;
  session?: SessionDate | null | undefined;
  fromMs?: number | null | undefined;
  toMs?: number | null | undefined;
  minPremiumUsd?: number | null | undefined;
  right?: OptionRight | null | undefined;
  expiry?: SessionDate | null | undefined;
}

/** Filters of a contract's prints. */
export type ContractEodFilters = Omit<EodFilters, 'symbol' | 'right' | 'expiry'>;

export interface EodMeta extends ResponseMeta {
  /** Number of prints that passed the filters. */
  count: number;
  filters: EodFilters;
  /** Reason for which there are no prints; null if there are any. */
  note: string | null;
}

export interface EodPrints {
  /** Null if nothing is stored. */
  sessionDate: SessionDate | null;
  /** Null if not filtered by symbol. */
  symbol: string | null;
  /** The served list. */
  tier: RankedListName;
  limit: number;
  coverageStatus: CoverageStatus | null;
  scannedAtMs: number | null;
  source: string | null;
  prints: RankedPrint[];
  meta: EodMeta;
}

/** A stored list of one underlying, or the whole list; null when none is stored. */
function rankedList(
  context: RequestContext,
  scope: string,
  list: RankedListName,
  session: SessionDate | null,
): Promise<RankedList | null> {
  const last = lastListedSession(context);
  return batched(ofAllInstants(context), `eod ${list} ${session} ${last}`, scope, (scopes) =>
    readRankedLists(context.store, scopes, list, session, last),
  );
}

function passes(filters: EodFilters, contract: string | null) {
  const { fromMs, toMs, minPremiumUsd, right, expiry } = filters;
  return (print: RankedPrint) =>
    print.eventTsMs >= (fromMs ?? -Infinity) &&
    print.eventTsMs <= (toMs ?? Infinity) &&
    print.premiumUsd >= (minPremiumUsd ?? 0) &&
    (right == null || print.contract.right === right) &&
    (expiry == null || print.contract.expiry === expiry) &&
    (contract === null || contractId(print.contract) === contract);
}

function noteOf(ranked: RankedList | null, count: number, isIndexByKey: boolean): string | null {
  if (count > 0) return null;
  if (isIndexByKey) return 'API keys read the list of equities. Prints of index options need a session of the site.';
  if (!ranked) return 'No end-of-day list is stored.';
  return ranked.prints.length === 0 ? 'No print of the session is ranked.' : 'No ranked print passes the filters.';
}

/** The prints of a contract among the largest of its underlying in a session. */
export async function eodPrintsOfContract(
  context: RequestContext,
  contract: OptionContract,
  filters: ContractEodFilters,
): Promise<EodPrints> {
  requireFlow(context.caller);
  const { right, expiry } = contract;
  const symbol = await underlyingOf(context, contract);
  return eodPrints(context, { ...filters, symbol, right, expiry }, contractId(contract));
}

/**
 * The largest option prints of a session (spec 4.10), only those of `contract` if its id is given. Filters only omit
 * prints: ranks and session are unchanged.
 */
export async function eodPrints(
  context: RequestContext,
  filters: EodFilters,
  contract: string | null = null,
): Promise<EodPrints> {
  const { symbol = null, session = null } = filters;
  requireFlow(context.caller);
  if (context.caller.kind === 'key' && session === null)
    throw invalidParameter('session', 'is required with an API key');
  requireFlowFilter(context, filters);
  const { fromMs = null, toMs = null } = filters;
  requireServedWindow({ name: 'from_ms', ms: fromMs }, { name: 'to_ms', ms: toMs });
  if (symbol !== null) await requireFlowOf(context, symbol);
  const isIndex = symbol !== null && (await registeredSymbol(context, symbol)).class === 'index';
  const list = context.caller.kind === 'key' ? 'free' : 'pro';
  const ranked = await fromSource(context, 'option_tape', () =>
    rankedList(context, symbol ?? wholeList, list, session),
  );
  const prints = ranked?.prints.filter(passes(filters, contract)) ?? [];
  return {
    sessionDate: ranked?.sessionDate ?? null,
    symbol,
    tier: list,
    limit: rankedListSize,
    coverageStatus: ranked?.coverageStatus ?? null,
    scannedAtMs: ranked?.scannedAtMs ?? null,
    source: ranked?.source ?? null,
    prints,
    meta: {
      ...responseMeta(context, await printPlane(context, session), [], () =>
        sourcesOfRows(
          prints.map(({ underlying }) => ({ symbol: underlying, sessionDate: ranked!.sessionDate })),
          flowSource,
        ),
      ),
      count: prints.length,
      filters,
      note: noteOf(ranked, prints.length, isIndex && list === 'free'),
    },
  };
}
