import type { CoverageStatus } from '../domain/coverage.ts';
import { type RankedList, type RankedListName, type RankedPrint, rankedListSize } from '../domain/flow.ts';
import type { SessionDate } from '../domain/market-time.ts';
import { contractId, readOptionContract } from '../domain/option-contract.ts';
import { readFrom, type Store } from './connection.ts';
import { type CopyValue, copyInto } from './copy.ts';
import type { Transaction } from './transaction.ts';

/** The scope of a list over all its symbols. */
export const wholeList = '*';

const printColumns =
  'print_id, event_id, underlying, contract, price, size, premium_usd, exchange, conditions, event_ts_ms, sequence, coverage_status';

interface SessionRow {
  wanted: string;
  scope: string;
  session_date: string;
  coverage_status: CoverageStatus;
  scanned_at_ms: number;
  source: string;
}

interface PrintRow {
  scope: string;
  session_date: string;
  rank: number;
  print_id: string;
  event_id: string;
  underlying: string;
  contract: string;
  price: number;
  size: number;
  premium_usd: number;
  exchange: number;
  conditions: number[];
  event_ts_ms: number;
  sequence: number;
  coverage_status: CoverageStatus;
}

function printOf(row: PrintRow): RankedPrint {
  const contract = readOptionContract(row.contract);
  if (!contract) throw new RangeError(`print ${row.print_id} has no option contract: ${row.contract}`);
  return {
    printId: row.print_id,
    eventId: row.event_id,
    underlying: row.underlying,
    contract,
    price: row.price,
    size: row.size,
    premiumUsd: row.premium_usd,
    exchange: row.exchange,
    conditions: row.conditions,
    eventTsMs: row.event_ts_ms,
    sequence: row.sequence,
    sessionDate: row.session_date,
    coverageStatus: row.coverage_status,
    rank: row.rank,
  };
}

// A scope that has no list of its own on a session that was written is an underlying of which nothing ranked: the
// session is then the whole list's, and there are no prints.
async function listSessions(
  store: Store,
  scopes: readonly string[],
  list: RankedListName,
  session: SessionDate | null,
  lastSession: SessionDate,
): Promise<SessionRow[]> {
  const { rows } = await readFrom(store).query<SessionRow>({
    name: 'ranked-sessions',
    text: `SELECT w.scope AS wanted, s.* FROM unnest($1::text[]) AS w(scope) CROSS JOIN LATERAL (
             SELECT * FROM ranked_sessions r WHERE r.scope IN (w.scope, '${wholeList}') AND r.list = $2
               AND ($3::text IS NULL OR r.session_date = $3) AND r.session_date <= $4
             ORDER BY r.session_date DESC, r.scope = '${wholeList}' LIMIT 1) AS s`,
    values: [[...new Set(scopes)], list, session, lastSession],
  });
  return rows;
}

/**
 * The end-of-day lists of several scopes (an underlying, or `*`), in two statements: of `session`, or of the latest stored
 * session up to `lastSession`. A scope is absent when nothing of the session is stored.
 */
export async function readRankedLists(
  store: Store,
  scopes: readonly string[],
  list: RankedListName,
  session: SessionDate | null,
  lastSession: SessionDate,
): Promise<Map<string, RankedList>> {
  const sessions = await listSessions(store, scopes, list, session, lastSession);
  const answer = new Map<string, RankedList>();
  for (const row of sessions) {
    answer.set(row.wanted, {
      scope: row.wanted,
      list,
      sessionDate: row.session_date,
      coverageStatus: row.coverage_status,
      scannedAtMs: row.scanned_at_ms,
      source: row.source,
      prints: [],
    });
  }
  if (answer.size === 0) return answer;
  const { rows } = await readFrom(store).query<PrintRow>({
    name: 'ranked-prints',
    text: `SELECT p.* FROM unnest($1::text[], $2::text[]) AS w(scope, session_date)
           JOIN ranked_prints p ON p.scope = w.scope AND p.list = $3 AND p.session_date = w.session_date
           ORDER BY p.scope, p.rank`,
    values: [sessions.map((row) => row.wanted), sessions.map((row) => row.session_date), list],
  });
  for (const row of rows) answer.get(row.scope)!.prints.push(printOf(row));
  return answer;
}

const printTypes = {
  scope: 'text',
  list: 'text',
  session_date: 'text',
  rank: 'int4',
  print_id: 'text',
  event_id: 'text',
  underlying: 'text',
  contract: 'text',
  price: 'float8',
  size: 'int8',
  premium_usd: 'float8',
  exchange: 'int4',
  conditions: 'int4[]',
  event_ts_ms: 'int8',
  sequence: 'int8',
  coverage_status: 'text',
} as const;

function printValues({ scope, list, sessionDate }: RankedList, print: RankedPrint): CopyValue[] {
  return [
    scope,
    list,
    sessionDate,
    print.rank,
    print.printId,
    print.eventId,
    print.underlying,
    contractId(print.contract),
    print.price,
    print.size,
    print.premiumUsd,
    print.exchange,
    print.conditions,
    print.eventTsMs,
    print.sequence,
    print.coverageStatus,
  ];
}

/** Writes lists of sessions, replacing earlier ones whole. */
export async function saveRankedLists(tx: Transaction, lists: readonly RankedList[]): Promise<void> {
  const of = <T>(value: (list: RankedList) => T) => lists.map(value);
  const keys = [of(({ scope }) => scope), of(({ list }) => list), of(({ sessionDate }) => sessionDate)];
  await tx.query(
    `INSERT INTO ranked_sessions (scope, list, session_date, coverage_status, scanned_at_ms, source)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
     ON CONFLICT (scope, list, session_date) DO UPDATE SET coverage_status = excluded.coverage_status,
       scanned_at_ms = excluded.scanned_at_ms, source = excluded.source`,
    [
      ...keys,
      of(({ coverageStatus }) => coverageStatus),
      of(({ scannedAtMs }) => scannedAtMs),
      of(({ source }) => source),
    ],
  );
  await tx.query(
    `DELETE FROM ranked_prints p USING unnest($1::text[], $2::text[], $3::text[]) AS w(scope, list, session_date)
     WHERE p.scope = w.scope AND p.list = w.list AND p.session_date = w.session_date`,
    keys,
  );
  const rows = lists.flatMap((list) => list.prints.map((print) => printValues(list, print)));
  await copyInto(tx, 'ranked_prints', printTypes, rows);
}

/**
 * Makes a session's list over all its underlyings anew from their own lists: the largest over all are among the largest of each. It is
 * reconciled when all of them are.
 */
export async function saveWholeRankedList(
  tx: Transaction,
  list: RankedListName,
  sessionDate: SessionDate,
  { scannedAtMs, source }: { scannedAtMs: number; source: string },
): Promise<void> {
  const key = [list, sessionDate];
  await tx.query(`DELETE FROM ranked_prints WHERE scope = '${wholeList}' AND list = $1 AND session_date = $2`, key);
  await tx.query(
    `INSERT INTO ranked_sessions (scope, list, session_date, coverage_status, scanned_at_ms, source)
     SELECT '${wholeList}', $1, $2, CASE WHEN coalesce(bool_and(coverage_status = 'eod_reconciled'), false)
       THEN 'eod_reconciled' ELSE 'observed_live' END, $3, $4
     FROM ranked_sessions WHERE scope <> '${wholeList}' AND list = $1 AND session_date = $2
     ON CONFLICT (scope, list, session_date) DO UPDATE SET coverage_status = excluded.coverage_status,
       scanned_at_ms = excluded.scanned_at_ms, source = excluded.source`,
    [...key, scannedAtMs, source],
  );
  await tx.query(
    `INSERT INTO ranked_prints (scope, list, session_date, rank, ${printColumns})
     SELECT '${wholeList}', list, session_date, row_number() OVER largest, ${printColumns} FROM ranked_prints
     WHERE scope <> '${wholeList}' AND list = $1 AND session_date = $2
     WINDOW largest AS (ORDER BY premium_usd DESC, event_ts_ms, sequence, print_id)
     ORDER BY row_number() OVER largest LIMIT ${rankedListSize}`,
    key,
  );
}
