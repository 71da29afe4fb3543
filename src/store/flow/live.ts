import type { SessionDate } from '../../core/domain/market-time.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { deleteRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';
import { forgetFeed } from './feed.ts';

/** The underlyings that are reconciled in a session: live data does not replace theirs. */
export async function reconciledUnderlyings(
  tx: Transaction,
  session: SessionDate,
  underlyings: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.prisma.flowCoverage.findMany({
    where: { sessionDate: session, status: 'eod_reconciled', underlying: anyOf(underlyings) },
    select: { underlying: true },
  });
  return new Set(rows.map(({ underlying }) => underlying));
}

/**
 * The symbols whose stock tape of the session was read at `sinceMs` or later: their bars and off-exchange figures are
 * complete, and live data does not replace them.
 */
export async function symbolsWithTape(
  tx: Transaction,
  session: SessionDate,
  symbols: readonly string[],
  sinceMs: number,
): Promise<Set<string>> {
  const rows = await tx.prisma.offExchangeSession.findMany({
    where: { sessionDate: session, symbol: anyOf(symbols), asOfMs: { gte: sinceMs } },
    select: { symbol: true },
  });
  return new Set(rows.map(({ symbol }) => symbol));
}

/** Removes events from a session, with their legs. */
export async function removeLargeTrades(
  tx: Transaction,
  session: SessionDate,
  events: readonly { underlying: string; eventId: string }[],
): Promise<void> {
  const keys = events.map((event) => ({ ...event, sessionDate: session }));
  const by = ['underlying', 'sessionDate', 'eventId'] as const;
  await deleteRows(tx, 'FlowLeg', { by, keys });
  await deleteRows(tx, 'FlowEvent', { by, keys });
}

/** The highest snapshot number of a session; 0 if there is none. */
export async function highestSnapshot(tx: Transaction, session: SessionDate): Promise<number> {
  const { _max } = await tx.prisma.crossSection.aggregate({ where: { sessionDate: session }, _max: { seq: true } });
  return numbered(_max).seq ?? 0;
}

/**
 * Deletes flow of a live tape that will no longer be reconciled, and returns its sessions: that of sessions before
 * `settledBefore` whose other underlyings are reconciled (it was not on the full tape), and all of sessions before
 * `expiredBefore`. Flow of a file that was read during its session stays.
 */
export async function dropLiveFlow(
  tx: Transaction,
  { settledBefore, expiredBefore }: { settledBefore: SessionDate; expiredBefore: SessionDate },
): Promise<SessionDate[]> {
  const live = await tx.prisma.flowCoverage.findMany({
    where: {
      status: 'observed_live',
      sessionDate: { lt: settledBefore > expiredBefore ? settledBefore : expiredBefore },
    },
    select: { underlying: true, sessionDate: true },
  });
  const dates = anyOf(live.map(({ sessionDate }) => sessionDate));
  const reconciled = await tx.prisma.flowCoverage.findMany({
    where: { status: 'eod_reconciled', sessionDate: dates },
    select: { sessionDate: true },
    distinct: 'sessionDate',
  });
  const settled = new Set(reconciled.map(({ sessionDate }) => sessionDate));
  const by = ['underlying', 'sessionDate'] as const;
  const ofFiles = await tx.prisma.tapeSession.findMany({
    where: { dataset: 'option-trades', sessionDate: dates },
    select: { symbol: true, sessionDate: true },
  });
  const marked = await tx.prisma.sessionOrigin.findMany({ where: { origin: 'live', sessionDate: dates } });
  const keyOf = (symbol: string, date: SessionDate) => `${symbol} ${date}`;
  const kept = new Set(ofFiles.map(({ symbol, sessionDate }) => keyOf(symbol, sessionDate)));
  for (const { symbol, sessionDate } of marked) kept.delete(keyOf(symbol, sessionDate));
  const isOver = (date: SessionDate) => date < expiredBefore || (date < settledBefore && settled.has(date));
  const keys = live.filter(
    ({ underlying, sessionDate }) => isOver(sessionDate) && !kept.has(keyOf(underlying, sessionDate)),
  );
  for (const model of [
    'FlowLeg',
    'FlowEvent',
    'CrossSection',
    'ContractMinuteBlock',
    'GreeksMinute',
    'GreeksSlot',
    'FlowCoverage',
  ] as const)
    await deleteRows(tx, model, { by, keys });
  const bars = keys.map((key) => ({ ...key, status: 'observed_live' }));
  await deleteRows(tx, 'OptionBarBlock', { by: ['underlying', 'sessionDate', 'status'], keys: bars });
  await forgetFeed(tx, expiredBefore);
  return [...new Set(keys.map(({ sessionDate }) => sessionDate))].sort();
}
