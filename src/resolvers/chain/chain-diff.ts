import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { type ChainCapture, type ChainRow, shownGreek } from '../../core/domain/chain/chain.ts';
import { greekColumns, sourceColumns } from '../../core/domain/chain/chain-columns.ts';
import { compareContracts, contractId } from '../../core/domain/chain/option-contract.ts';
import { type RowOf, rowBy } from '../../core/domain/columns.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { clampedCaps } from '../as-of.ts';
import { chainAsOf, hasCome } from '../captures-at.ts';
import { findSymbol, type RequestContext } from '../context.ts';
import { type AskedPoint, type CapturePoint, parseCapturePoint, requireOrder } from '../gex/capture-point.ts';
import { planeAt, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { capturesSources } from '../source-keys.ts';
import { type ChainFilter, chainFilter } from './chain.ts';

export interface ChainDiffArgs extends ChainFilter {
  from: CapturePoint;
  to: CapturePoint;
  tz?: string | null | undefined;
  changed?: boolean | null | undefined;
}

/** A contract in two chains; null = that one does not list it. */
export interface ContractPair {
  from: ChainRow | null;
  to: ChainRow | null;
}

/** Contracts of two chains side by side. */
export interface ChainDiff {
  /** Epoch ms of the chains; null if there is none. */
  fromCapturedAt: number | null;
  toCapturedAt: number | null;
  /** By expiry, strike, call before put; empty without both chains. */
  rows: ContractPair[];
  meta: ResponseMeta;
}

type SourceNumber = keyof typeof sourceColumns;
type Greek = keyof typeof greekColumns;

const isGreek = (name: SourceNumber): name is Greek => name in greekColumns;

/** A number of a row as it is shown: of greeks the source's, else the solved one. */
const shownNumber = (row: ChainRow, name: SourceNumber) => (isGreek(name) ? shownGreek(row, name) : row[name]);

/** The later numbers of a contract less the earlier ones; null where one of them is unknown. */
export function movedNumbers({ from, to }: ContractPair): RowOf<typeof sourceColumns> {
  return rowBy(sourceColumns, (name) => {
    const before = from && shownNumber(from, name);
    const after = to && shownNumber(to, name);
    return before === null || after === null ? null : after - before;
  });
}

/** The chain of a point: the last one by a time, or of a date; null if there is none. */
async function chainAtPoint(context: RequestContext, symbol: string, point: AskedPoint): Promise<ChainCapture | null> {
  const { atMs, bareDate, isExact } = point;
  const chain = hasCome(context, atMs) ? await chainAsOf(context, symbol, point) : null;
  if (bareDate !== null && chain?.sessionDate !== bareDate) return null;
  return isExact && chain?.capturedAt !== atMs ? null : chain;
}

/** True if one chain lacks the contract, or its open interest or volume moved. */
function isChanged({ from, to }: ContractPair): boolean {
  return from?.openInterest !== to?.openInterest || from?.volume !== to?.volume || from === null || to === null;
}

function pairs(from: ChainCapture, to: ChainCapture, args: ChainDiffArgs): ContractPair[] {
  const isAsked = chainFilter(args);
  const old = new Map(from.rows.filter(isAsked).map((row) => [contractId(row), row]));
  const found = to.rows.filter(isAsked).map((row): ContractPair => {
    const id = contractId(row);
    const before = old.get(id) ?? null;
    old.delete(id);
    return { from: before, to: row };
  });
  for (const row of old.values()) found.push({ from: row, to: null });
  const kept = args.changed ? found.filter(isChanged) : found;
  return kept.sort((a, b) => compareContracts((a.to ?? a.from)!, (b.to ?? b.from)!));
}

/** Two chains of a symbol, contract by contract. */
export async function chainDiff(context: RequestContext, symbol: string, args: ChainDiffArgs): Promise<ChainDiff> {
  const terms = { symbol, tz: args.tz, context };
  const start = parseCapturePoint(args.from, { ...terms, parameter: 'from' });
  const end = parseCapturePoint(args.to, { ...terms, parameter: 'to' });
  requireReadable(context.caller, await findSymbol(context, symbol));
  const chains = await Promise.all([start, end].map((asked) => chainAtPoint(context, symbol, asked)));
  const [from, to] = chains as [ChainCapture | null, ChainCapture | null];
  requireOrder({ asked: start, capture: from }, { asked: end, capture: to });
  await yieldForRows((from?.rows.length ?? 0) + (to?.rows.length ?? 0));
  return {
    fromCapturedAt: from?.capturedAt ?? null,
    toCapturedAt: to?.capturedAt ?? null,
    rows: from && to ? pairs(from, to, args) : [],
    meta: responseMeta(context, planeAt(context, end), clampedCaps(start, end), () =>
      capturesSources(symbol, [from, to]),
    ),
  };
}
