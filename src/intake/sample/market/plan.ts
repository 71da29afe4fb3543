import {
  closeMinute,
  isHalfDay,
  isTradingDay,
  previousTradingDay,
  regularSession,
  sessionMinutes,
  sessionsUpTo,
} from '../../../core/domain/calendar.ts';
import type { TapeDataset } from '../../../core/domain/dataset.ts';
import { exchangeDate, exchangeInstant, type SessionDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { type CorporateDataset, corporateDatasets, type DateRange, hasCorporate } from './corporate.ts';
import { lateCloseMs, type TapeShape, tapeEndMs, tapeShape, tapeStartMinute } from './tape-shape.ts';
import { sampleSymbols } from './universe.ts';

/** Version of the generated market. Increased when the generator changes; an older market is left unchanged. */
export const sampleVersion = 2;

/** Size of the market. */
export interface SampleShape {
  /** Number of last sessions with minute bars; with chains and option bars; and of those before with day bars only. */
  barSessions: number;
  chainSessions: number;
  historySessions: number;
  captureEveryMinutes: number;
  /** Number of last sessions with tapes, among those with chains; and the contents of one. */
  tapeSessions: number;
  tape: TapeShape;
}

export const sampleShape: SampleShape = {
  barSessions: 30,
  chainSessions: 3,
  historySessions: 250,
  captureEveryMinutes: 5,
  tapeSessions: 2,
  tape: tapeShape,
};

/** A file to generate, named by its contents. */
export type SampleTask =
  | { dataset: CorporateDataset; name: string; range: DateRange }
  | { dataset: 'stock-day-bars'; name: string; sessions: SessionDate[] }
  | {
      dataset: 'stock-day-bars' | 'stock-minute-bars' | 'option-minute-bars';
      name: string;
      session: SessionDate;
      untilMs: number;
    }
  | {
      dataset: TapeDataset;
      name: string;
      session: SessionDate;
      untilMs: number;
      shape: TapeShape;
      /**
       * True if it was generated and stored before, and is read again now that the sessions it depends on are stored.
       */
      again?: true;
    }
  | { dataset: 'chain'; name: string; symbol: string; session: SessionDate; minute: number; solve: boolean };

/** A file of prints to generate. */
export type TapeTask = Extract<SampleTask, { dataset: TapeDataset }>;

/** True if a file contains splits, dividends, rates or roots. */
export function isCorporate(task: SampleTask): task is Extract<SampleTask, { dataset: CorporateDataset }> {
  return 'range' in task;
}

/** True if a file contains prints. */
export function isTape(task: SampleTask): task is TapeTask {
  return task.dataset === 'stock-trades' || task.dataset === 'option-trades';
}

/** The current or last session of the market: today's from its open on, else that of the trading day before. */
export function latestSession(nowMs: number): SessionDate {
  const today = exchangeDate(nowMs);
  const session = regularSession(today);
  // The first data of a session is the first minute's bar.
  return isTradingDay(today) && nowMs >= session!.openMs + minuteMs ? today : previousTradingDay(today);
}

/** The session with a live tape: from the first print until options have ceased to trade; null at other times. */
export function sessionUnderWay(nowMs: number): SessionDate | null {
  const today = exchangeDate(nowMs);
  const session = regularSession(today);
  const trades = session && nowMs >= exchangeInstant(today, tapeStartMinute) && nowMs < session.closeMs + lateCloseMs;
  return trades ? today : null;
}

function latestHalfDay(last: SessionDate): SessionDate {
  let session = last;
  while (!isHalfDay(session)) session = previousTradingDay(session);
  return session;
}

/** Capture minutes of a session up to `nowMs`. */
function captureMinutes(session: SessionDate, nowMs: number, everyMinutes: number): number[] {
  const minutes: number[] = [];
  for (let minute = sessionMinutes.open; minute < closeMinute(session); minute += everyMinutes) {
    if (exchangeInstant(session, minute) <= nowMs) minutes.push(minute);
  }
  return minutes;
}

function chainTasks(session: SessionDate, nowMs: number, afterMs: number, everyMinutes: number): SampleTask[] {
  const minutes = captureMinutes(session, nowMs, everyMinutes);
  return sampleSymbols.flatMap(({ symbol, chains }) => {
    const wanted = chains === 'every5m' ? minutes : minutes.slice(-1);
    return wanted
      .filter((minute) => exchangeInstant(session, minute) > afterMs)
      .map((minute) => {
        const clock = `${String(Math.floor(minute / 60)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
        const name = `${session}/${symbol}-${clock}`;
        // Daily chains are few: their gammas are solved, those of others are the vendor's.
        return { dataset: 'chain' as const, name, symbol, session, minute, solve: chains === 'daily' };
      });
  });
}

/** The last chain of each ticker: solves of the next session's first minutes use its yields. */
function lastChains(tasks: readonly SampleTask[], session: SessionDate): Set<SampleTask> {
  const last = new Map<string, SampleTask>();
  for (const task of tasks) if (task.dataset === 'chain' && task.session === session) last.set(task.symbol, task);
  return new Set(last.values());
}

/** The files of the session `last`, each after those that it depends on. */
function ofLatest(tasks: readonly SampleTask[], last: SessionDate): SampleTask[] {
  const before = lastChains(tasks, previousTradingDay(last));
  const isOfLast = (task: SampleTask) => 'session' in task && task.session === last && !(isTape(task) && task.again);
  // Changes and averages are computed over days, so splits must be known.
  const days = tasks.filter((task) => isCorporate(task) || task.dataset === 'stock-day-bars');
  const own = tasks.filter((task) => !days.includes(task) && isOfLast(task));
  return own.length === 0 ? [] : [...days, ...own.filter((task) => !isTape(task)), ...before, ...own.filter(isTape)];
}

/** Number of files of a plan after which the current or last session is complete. */
export function untilLatest(tasks: readonly SampleTask[], nowMs: number): number {
  return ofLatest(tasks, latestSession(nowMs)).length;
}

/**
 * A plan with its latest session first, then the others, ascending. Greeks of a contract may depend on its price in the
 * session before: if that is stored later, the latest session's options are read again at the end.
 */
function latestFirst(tasks: readonly SampleTask[], last: SessionDate): SampleTask[] {
  const before = previousTradingDay(last);
  const isOfOptions = ({ dataset }: SampleTask) => dataset === 'option-trades' || dataset === 'option-minute-bars';
  const closesCome = tasks.some((task) => 'session' in task && task.session === before && isOfOptions(task));
  const again = tasks
    .filter(isTape)
    .filter((task) => closesCome && task.dataset === 'option-trades' && task.session === last)
    .map((task) => ({ ...task, again: true as const }));
  return [...new Set([...ofLatest(tasks, last), ...tasks, ...again])];
}

/**
 * The corporate-action and rate files since `throughMs`, or `first`. A dividend is included once all sessions with
 * chains are after its ex-date: chains are priced with a yield, and their quotes ignore amounts.
 */
function corporateTasks(
  nowMs: number,
  throughMs: number | null,
  { first, chainSessions }: { first: SessionDate; chainSessions: number },
): SampleTask[] {
  const firstChains = (atMs: number) => sessionsUpTo(latestSession(atMs), chainSessions)[0]!;
  const rangeOf = (lastAt: (atMs: number) => SessionDate): DateRange => ({
    after: throughMs === null ? previousTradingDay(first) : lastAt(throughMs),
    through: lastAt(nowMs),
  });
  return corporateDatasets.flatMap((dataset) => {
    const range = rangeOf(dataset === 'dividends' ? firstChains : latestSession);
    const isWanted = (dataset !== 'roots' || throughMs === null) && hasCorporate(dataset, range);
    return isWanted ? [{ dataset, name: `${range.after}_${range.through}`, range }] : [];
  });
}

/**
 * The plan of files that brings a market from `throughMs` (null = nothing yet) to `nowMs`: thirty sessions of minute
 * and day bars, and that of the latest half day where it lies further back; day bars of a year; chains and option bars
 * of the last three; the last two have tapes from which the option bars are made, and the last two whose off-exchange
 * figures are published have tapes of stocks. The session in progress has data up to now. The latest session comes
 * first. The final data does not depend on that order.
 */
export function samplePlan(nowMs: number, throughMs: number | null, shape: SampleShape = sampleShape): SampleTask[] {
  const { barSessions, chainSessions, historySessions, captureEveryMinutes, tapeSessions } = shape;
  const last = latestSession(nowMs);
  const window = sessionsUpTo(last, barSessions);
  const halfDay = latestHalfDay(last);
  const from = throughMs === null ? '' : latestSession(throughMs);
  // The session in which a market stopped is completed, however long ago that was.
  const withMinutes = [...new Set([...window, halfDay, ...(from === '' || from > last ? [] : [from])])].sort();
  const fresh = (session: SessionDate) => session >= from && exchangeInstant(session, sessionMinutes.open) < nowMs;
  const daysBefore = sessionsUpTo(last, barSessions + historySessions).slice(0, historySessions);
  const onlyDays = [...new Set([previousTradingDay(halfDay), ...daysBefore])]
    .filter((session) => !withMinutes.includes(session) && session > from)
    .sort();
  const untilOf = (session: SessionDate, lateMs = 0) => Math.min(nowMs, regularSession(session)!.closeMs + lateMs);
  const tasks: SampleTask[] = corporateTasks(nowMs, throughMs, { first: onlyDays[0] ?? window[0]!, chainSessions });
  if (onlyDays.length > 0) {
    tasks.push({ dataset: 'stock-day-bars', name: `${onlyDays[0]}_${onlyDays.at(-1)}`, sessions: onlyDays });
  }
  const isDone = (session: SessionDate, lateMs = 0) => throughMs !== null && throughMs >= untilOf(session, lateMs);
  // During a session, its bars are derived from the tape: a process stopped then may lack its last minutes.
  for (const session of withMinutes.filter((one) => fresh(one) && !isDone(one, lateCloseMs))) {
    const untilMs = untilOf(session);
    for (const dataset of ['stock-day-bars', 'stock-minute-bars'] as const)
      tasks.push({ dataset, name: session, session, untilMs });
  }
  const taped = window.slice(window.length - Math.min(tapeSessions, chainSessions));
  for (const session of window.slice(-chainSessions).filter((one) => fresh(one) && !isDone(one))) {
    // Bars of options are derived from their prints.
    if (!taped.includes(session))
      tasks.push({ dataset: 'option-minute-bars', name: session, session, untilMs: untilOf(session) });
    tasks.push(...chainTasks(session, nowMs, throughMs ?? -Infinity, captureEveryMinutes));
  }
  const tapeUntilOf = (session: SessionDate) => Math.min(nowMs, tapeEndMs(session));
  const toTape = new Set(from === '' || from > last ? taped : [from, ...taped]);
  // Off-exchange figures are published the morning after their session; price levels span several sessions.
  const published = window.filter((session) => session < exchangeDate(nowMs)).slice(-tapeSessions);
  const withPrints = [...new Set([...toTape, ...published])].filter(fresh).sort();
  for (const session of withPrints.filter((one) => throughMs === null || throughMs < tapeUntilOf(one))) {
    // Last: data derived from a session's prints replaces data from its bars.
    for (const dataset of ['stock-trades', 'option-trades'] as const)
      if (dataset === 'stock-trades' || toTape.has(session))
        tasks.push({ dataset, name: session, session, untilMs: tapeUntilOf(session), shape: shape.tape });
  }
  return latestFirst(tasks, last);
}

/**
 * The same with a live tape of the session in progress: data derived from that is omitted, as are further chains of
 * tickers that have one per session.
 */
export function samplePlanBesideTape(nowMs: number, throughMs: number | null, shape: SampleShape): SampleTask[] {
  const live = sessionUnderWay(nowMs);
  const begun = live !== null && throughMs !== null && latestSession(throughMs) === live;
  return samplePlan(nowMs, throughMs, shape).flatMap((task): SampleTask[] => {
    if (!('session' in task) || task.session !== live) return [task];
    const isOfTape = isTape(task) || task.dataset === 'stock-day-bars' || task.dataset === 'stock-minute-bars';
    return isOfTape || (task.dataset === 'chain' && task.solve && begun) ? [] : [task];
  });
}
