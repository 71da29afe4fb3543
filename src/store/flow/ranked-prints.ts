import { contractId, readOptionContract } from '../../core/domain/chain/option-contract.ts';
import {
  type CoverageStatus,
  type RankedList,
  type RankedListName,
  type RankedPrint,
  rankedListSize,
} from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { copyRows } from '../rows/copied-rows.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { deleteRows, findRows, upsertRows } from '../rows/models/sets.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';

/** The scope of a list over all symbols. */
export const wholeList = '*';

type PrintRow = Row<'RankedPrint'>;
const listKey = ['scope', 'list', 'sessionDate'] as const;

function printOf({ scope: _, list: __, contract: id, ...row }: PrintRow): RankedPrint {
  const contract = readOptionContract(id);
  if (!contract) throw new RangeError(`print ${row.printId} has no option contract: ${id}`);
  const coverageStatus = row.coverageStatus as CoverageStatus;
  return { ...row, contract, coverageStatus, conditions: [...row.conditions] };
}

// A scope without a list of its own in a stored session is an underlying without ranked prints: its session is that of
// the whole list, and its list is empty.
const lastSessions = statement(
  'flow/ranked-sessions',
  { scopes: 'text[]', list: 'text', session: 'text?', lastSession: 'text' },
  { scope: 'text', sessionDate: 'text', coverageStatus: 'text', scannedAtMs: 'int8', source: 'text' },
);

const printFields = [
  'scope',
  'list',
  'sessionDate',
  'rank',
  'printId',
  'eventId',
  'underlying',
  'contract',
  'price',
  'size',
  'premiumUsd',
  'exchange',
  'conditions',
  'eventTsMs',
  'sequence',
  'coverageStatus',
] as const;

/**
 * The end-of-day lists of several scopes (an underlying, or `*`), in two statements: of `session`, or of the latest
 * stored session up to `lastSession`. A scope is absent if nothing of the session is stored.
 */
export async function readRankedLists(
  store: Store,
  scopes: readonly string[],
  list: RankedListName,
  session: SessionDate | null,
  lastSession: SessionDate,
): Promise<Map<string, RankedList>> {
  // A scope without a list of its own uses the whole list.
  const from = readFrom(store, 'flow', [...scopes, wholeList]);
  const asked = { scopes: [...new Set([...scopes, wholeList])], list, session, lastSession };
  const sessions = new Map((await lastSessions.rows(from, asked)).map((row) => [row.scope, row]));
  const whole = sessions.get(wholeList);
  const answer = new Map<string, RankedList>();
  for (const scope of scopes) {
    const own = sessions.get(scope);
    const last = own && !(whole && whole.sessionDate > own.sessionDate) ? own : whole;
    if (last === undefined) continue;
    answer.set(scope, { ...last, scope, list, coverageStatus: last.coverageStatus as CoverageStatus, prints: [] });
  }
  const keys = Array.from(answer.values(), ({ scope, sessionDate }) => ({ scope, list, sessionDate }));
  const rows = await findRows(from, 'RankedPrint', { by: listKey, keys }, printFields);
  rows.sort((a, b) => a.rank - b.rank);
  for (const row of rows) answer.get(row.scope)!.prints.push(printOf(row));
  return answer;
}

function* printRows(lists: readonly RankedList[]): Generator<PrintRow> {
  for (const { scope, list, sessionDate, prints } of lists)
    for (const print of prints) yield { ...print, scope, list, sessionDate, contract: contractId(print.contract) };
}

/** Writes lists of sessions, replacing earlier ones. */
export async function saveRankedLists(tx: Transaction, lists: readonly RankedList[]): Promise<void> {
  await upsertRows(tx, 'RankedSession', lists);
  await deleteRows(tx, 'RankedPrint', { by: listKey, keys: lists });
  await copyRows(tx, 'RankedPrint', printRows(lists));
}

/**
 * Recomputes a session's list over all its underlyings from their own lists: the largest over all are among the largest
 * of each. It is reconciled if all of them are.
 */
export async function saveWholeRankedList(
  tx: Transaction,
  list: RankedListName,
  sessionDate: SessionDate,
  made: { scannedAtMs: number; source: string },
): Promise<void> {
  const whole = { scope: wholeList, list, sessionDate };
  const where = { scope: { not: wholeList }, list, sessionDate };
  const sessions = await tx.prisma.rankedSession.findMany({ where, select: { coverageStatus: true } });
  const isReconciled = sessions.length > 0 && sessions.every((row) => row.coverageStatus === 'eod_reconciled');
  const coverageStatus = isReconciled ? 'eod_reconciled' : 'observed_live';
  await upsertRows(tx, 'RankedSession', [{ ...whole, coverageStatus, ...made }]);
  const largest = await tx.prisma.rankedPrint.findMany({
    where,
    orderBy: [{ premiumUsd: 'desc' }, { eventTsMs: 'asc' }, { sequence: 'asc' }, { printId: 'asc' }],
    take: rankedListSize,
  });
  await deleteRows(tx, 'RankedPrint', { by: listKey, keys: [whole] });
  await copyRows(
    tx,
    'RankedPrint',
    largest.map((row, i) => ({ ...numbered(row), ...whole, rank: i + 1 })),
  );
}
