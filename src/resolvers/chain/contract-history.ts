import { previousTradingDay, tradingDayAtOrBefore } from '../../core/domain/calendar.ts';
import type { ContractLine } from '../../core/domain/chain/chain.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import { lastSession } from '../../core/domain/chain/option-root.ts';
import type { BarColumns } from '../../core/domain/market/bar.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { minutesShownBefore } from '../../live/served-bars.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { contractLinesOfSessions } from '../../store/chain/contract-lines.ts';
import { readOptionBarsIn, type StoredOptionBars } from '../../store/chain/option-bars.ts';
import { firstAtOrAfter } from '../../store/market/bar-blocks.ts';
import { throughMs } from '../as-of.ts';
import { fromSource, type RequestContext, requireSource, underlyingOf, withUnderlyings } from '../context.ts';
import { currentDate } from '../current-date.ts';
import type { SourceKey } from '../provenance.ts';
import { printPlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { capturesSources, optionBarSource, spanOf } from '../source-keys.ts';
import { requireContract } from './contract.ts';

/** Sessions of a contract's history: the default, and the most. */
export const historySessions = { default: 20, max: 260 };

/** A contract's session. Null = unknown. */
export interface ContractDay extends Pick<ContractLine, 'bid' | 'ask' | 'iv' | 'delta' | 'gamma' | 'vega' | 'spot'> {
  date: SessionDate;
  /** Epoch ms of the chain that quotes, greeks and open interest are of; null if no chain lists it. */
  capturedAt: number | null;
  /** Contracts, as of the prior close. */
  openInterest: number | null;
  /** Contracts traded: of all its prints, else of its bars, else of the chain. */
  volume: number | null;
  /** Last price of its bars, else last trade of the chain; dollars a share. */
  close: number | null;
  /** Dollars a share per day. */
  theta: number | null;
}

export interface ContractHistoryMeta extends ResponseMeta {
  from: SessionDate;
  to: SessionDate;
  count: number;
  /** Why there are no sessions; null if there are any. */
  note: string | null;
}

export interface ContractHistory {
  contract: OptionContract;
  /** Ascending; sessions of which nothing is stored are absent. */
  days: ContractDay[];
  meta: ContractHistoryMeta;
}

/** The sessions from `from` to `to`, the latest `most` of them. */
function sessionsBetween(from: SessionDate, to: SessionDate, most: number): SessionDate[] {
  const sessions: SessionDate[] = [];
  for (
    let session = tradingDayAtOrBefore(to);
    session >= from && sessions.length < most;
    session = previousTradingDay(session)
  )
    sessions.unshift(session);
  return sessions;
}

type ReadDays = Map<string, ContractDay[]>;

const unknownLine = {
  capturedAt: null,
  spot: null,
  bid: null,
  ask: null,
  last: null,
  volume: null,
  openInterest: null,
  iv: null,
  delta: null,
  gamma: null,
  theta: null,
  vega: null,
};

/** The volume of minutes before `endMs`; null without any. */
function volumeBefore(minutes: BarColumns | undefined, endMs: number): number | null {
  const shown = minutes ? firstAtOrAfter(minutes, endMs) : 0;
  return shown === 0 ? null : minutes!.volume.subarray(0, shown).reduce((sum, volume) => sum + volume, 0);
}

/** A session of a contract by its line, its bars and the volume beside them before `endMs`; null if it has none. */
function dayOf(
  date: SessionDate,
  line: ContractLine | undefined,
  { bars, rest: beside }: { bars: BarColumns | undefined; rest: BarColumns | undefined },
  endMs: number,
) {
  const shown = bars ? firstAtOrAfter(bars, endMs) : 0;
  const volumes = [volumeBefore(bars, endMs), volumeBefore(beside, endMs)].filter((volume) => volume !== null);
  if (line === undefined && volumes.length === 0) return null;
  const { capturedAt, spot, bid, ask, last, iv, delta, gamma, vega, ...rest } = line ?? unknownLine;
  return {
    date,
    capturedAt,
    spot,
    bid,
    ask,
    iv,
    delta,
    gamma,
    vega,
    openInterest: rest.openInterest ?? null,
    theta: rest.theta ?? null,
    volume: volumes.length === 0 ? rest.volume : volumes.reduce((sum, volume) => sum + volume, 0),
    close: shown === 0 ? last : bars!.close[shown - 1]!,
  };
}

async function readDays(
  context: RequestContext,
  contracts: readonly OptionContract[],
  dates: readonly SessionDate[],
): Promise<ReadDays> {
  const { store, sources, nowMs } = context;
  const listed = await withUnderlyings(context, contracts);
  const endMs = minutesShownBefore(store, nowMs);
  const readBars = (length: '1m' | 'rest') =>
    sources.option_bars
      ? fromSource(context, 'option_bars', () => readOptionBarsIn(store, listed, dates, length))
      : new Map<string, StoredOptionBars>();
  const [lines, bars, beside] = await Promise.all([
    sources.chain
      ? fromSource(context, 'chain', () => contractLinesOfSessions(store, listed, dates, throughMs(context)))
      : new Map<string, ContractLine[]>(),
    readBars('1m'),
    readBars('rest'),
  ]);
  return new Map(
    contracts.map((contract) => {
      const id = contractId(contract);
      const byDate = new Map((lines.get(id) ?? []).map((line) => [line.sessionDate, line]));
      const days = dates
        .filter((date) => date <= lastSession(contract.expiry))
        .map((date) => {
          const of = { bars: bars.get(`${date} ${id}`)?.bars, rest: beside.get(`${date} ${id}`)?.bars };
          return dayOf(date, byDate.get(date), of, endMs);
        });
      return [id, days.filter((day) => day !== null)];
    }),
  );
}

/** Sources of a contract's sessions: the capture of each, and the bars of them. */
async function historySources(
  context: RequestContext,
  contract: OptionContract,
  days: readonly ContractDay[],
): Promise<SourceKey[]> {
  const underlying = await underlyingOf(context, contract);
  const captures = days.map(({ date, capturedAt }) => (capturedAt === null ? null : { capturedAt, sessionDate: date }));
  const span = context.sources.option_bars ? spanOf(days.map(({ date }) => date)) : null;
  return [...capturesSources(underlying, captures), ...(span ? [optionBarSource(underlying, ...span)] : [])];
}

/** The window of a history: up to today and the contract's last session; 20 sessions unless `from` says otherwise. */
async function windowOf(
  context: RequestContext,
  { expiry }: OptionContract,
  { from, to }: { from?: SessionDate | null | undefined; to?: SessionDate | null | undefined },
) {
  if (from != null && to != null && from > to) throw invalidParameter('from', 'expected a date at or before `to`');
  const today = tradingDayAtOrBefore(await currentDate(context));
  const last = [today, lastSession(expiry), to ?? today].reduce((a, b) => (a < b ? a : b));
  const most = from == null ? historySessions.default : historySessions.max;
  const sessions = sessionsBetween(from ?? '', last, most);
  const first = sessions[0] ?? last;
  const isClamped = from != null && sessions.length === most && first > from;
  return { sessions, from: from == null || isClamped ? first : from, to: to ?? today, isClamped };
}

/**
 * A contract by session: quotes, greeks and open interest of its last chain, volume of all its prints, close of its
 * bars. All contracts that a request asks for with one window are read together.
 */
export async function contractHistory(
  context: RequestContext,
  contract: OptionContract,
  args: { from?: SessionDate | null | undefined; to?: SessionDate | null | undefined },
): Promise<ContractHistory> {
  await requireContract(context, contract);
  requireSource(context, 'chain', 'option_bars');
  const { sessions, from, to, isClamped } = await windowOf(context, contract, args);
  const name = `contract history ${sessions[0]} ${sessions.at(-1)}`;
  const read = (contracts: readonly OptionContract[]) => readDays(context, contracts, sessions);
  const days = (await batched(context, name, contract, read, contractId)) ?? [];
  return {
    contract,
    days,
    meta: {
      ...responseMeta(context, await printPlane(context, to), isClamped ? ['range_clamped'] : [], () =>
        historySources(context, contract, days),
      ),
      from,
      to,
      count: days.length,
      note: days.length > 0 ? null : `Nothing of ${contractId(contract)} is stored from ${from} to ${to}.`,
    },
  };
}
