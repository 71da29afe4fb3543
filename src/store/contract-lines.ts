import pg from 'pg';
import type { ChainCapture, ContractLine } from '../domain/chain.ts';
import { addDays, epochDay, exchangeInstant } from '../domain/market-time.ts';
import { contractId, type OptionContract } from '../domain/option-contract.ts';
import { nextTurn } from '../domain/turn.ts';
import { type OpenBlock, openBlock } from './codec.ts';
import { readFrom, type Store } from './connection.ts';

/** A contract, and the underlying under which its chains are kept. */
export interface ListedContract {
  underlying: string;
  contract: OptionContract;
}

type Facts = Pick<ChainCapture, 'underlying' | 'capturedAt' | 'sessionDate' | 'spot' | 'priorCloseSpot'> & {
  version: string;
};

/** What captures say of one contract, by `captureKey`; null: not listed there. */
type KnownLines = Map<string, ContractLine | null>;

const captureKey = ({ capturedAt, version }: Facts) => `${capturedAt} ${version}`;
const placeOf = ({ underlying, capturedAt }: Pick<Facts, 'underlying' | 'capturedAt'>) => `${underlying} ${capturedAt}`;
const cacheKey = ({ contract, underlying }: ListedContract) => `lines:${underlying}:${contractId(contract)}`;
/** Bytes a line takes in the cache, about. */
const lineBytes = 220;
/** Contracts whose lines are put together before others get their turn: under 5 ms of work. */
const contractsATurn = 50;

/** After its expiry date nothing is said of a contract, so that its captures are looked for up to that date's end. */
function lastMoment({ contract }: ListedContract, throughMs: number): number {
  return Math.min(throughMs, exchangeInstant(addDays(contract.expiry, 1)) - 1);
}

interface Range {
  underlying: string;
  throughMs: number;
}
const rangeKey = ({ underlying, throughMs }: Range) => `${underlying} ${throughMs}`;

/** The last `captures` captures of each range, ascending, with no rows read. One statement. */
async function readFacts(store: Store, ranges: readonly Range[], captures: number): Promise<Facts[][]> {
  const { rows } = await readFrom(store).query<Facts & { range: number }>({
    name: 'contract-line-captures',
    text: `SELECT wanted.range::int, c.* FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted(underlying, through_ms, range)
           CROSS JOIN LATERAL (
             SELECT underlying, captured_at AS "capturedAt", session_date AS "sessionDate", spot,
               prior_close_spot AS "priorCloseSpot", version
             FROM chain_captures WHERE underlying = wanted.underlying AND captured_at <= wanted.through_ms
             ORDER BY captured_at DESC LIMIT $3) c
           ORDER BY c."capturedAt"`,
    values: [ranges.map(({ underlying }) => underlying), ranges.map(({ throughMs }) => throughMs), captures],
  });
  const found: Facts[][] = ranges.map(() => []);
  for (const { range, ...facts } of rows) found[range - 1]!.push(facts);
  return found;
}

/** Where a contract's row lies among a capture's, which are ordered by expiry, strike, call before put, root; -1: nowhere. */
function rowOf(block: OpenBlock, { root, expiry, right, strike }: OptionContract): number {
  const day = epochDay(expiry);
  const put = right === 'put' ? 1 : 0;
  const isBefore = (index: number) => {
    const order =
      block.number('expiry', index) - day || block.number('strike', index) - strike || block.number('put', index) - put;
    return order < 0 || (order === 0 && block.text('root', index) < root);
  };
  let low = 0;
  for (let high = block.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  const found =
    low < block.length &&
    block.number('expiry', low) === day &&
    block.number('strike', low) === strike &&
    block.number('put', low) === put &&
    block.text('root', low) === root;
  return found ? low : -1;
}

function lineOf(block: OpenBlock, facts: Facts, contract: OptionContract): ContractLine | null {
  const index = rowOf(block, contract);
  if (index < 0) return null;
  const known = (name: string) => {
    const value = block.number(name, index);
    return Number.isNaN(value) ? null : value;
  };
  const { capturedAt, sessionDate, spot, priorCloseSpot } = facts;
  return {
    capturedAt,
    sessionDate,
    spot,
    priorCloseSpot,
    volume: known('volume'),
    bid: known('bid'),
    ask: known('ask'),
    last: known('last'),
    iv: known('iv'),
    delta: known('delta'),
    gamma: known('gamma'),
    vega: known('vega'),
  };
}

/** Runs a statement whose rows are taken one by one as they come, so that never more than one is held. */
async function eachRow<Row>(store: Store, config: pg.QueryConfig, take: (row: Row) => void): Promise<void> {
  const client = await store.pool.connect();
  // What throws in a row's event would end the process: it waits for the statement's end.
  let unreadable: Error | undefined;
  const failed = await new Promise<Error | undefined>((resolve) => {
    const query = client.query(new pg.Query(config));
    query.on('row', (row) => {
      try {
        if (unreadable === undefined) take(row as Row);
      } catch (error) {
        unreadable = error as Error;
      }
    });
    query.on('end', () => resolve(undefined));
    query.on('error', resolve);
  });
  client.release(failed);
  if (failed ?? unreadable) throw failed ?? unreadable;
}

/** A capture of which the lines of some contracts are not known yet. */
interface Unread {
  facts: Facts;
  wanted: Wanted[];
}

/** Reads what is missing, one capture at a time. One statement. */
async function readLines(store: Store, unread: ReadonlyMap<string, Unread>): Promise<void> {
  const captures = [...unread.values()];
  const expiries = new Set(captures.flatMap(({ wanted }) => wanted.map(({ contract }) => contract.expiry)));
  const config = {
    name: 'contract-line-payloads',
    text: `SELECT c.underlying, c.captured_at AS "capturedAt", c.session_date AS "sessionDate", c.spot,
             c.prior_close_spot AS "priorCloseSpot", c.version, c.payload
           FROM unnest($1::text[], $2::bigint[]) AS wanted(underlying, captured_at)
           JOIN chain_captures c ON c.underlying = wanted.underlying AND c.captured_at = wanted.captured_at
           WHERE c.expirations && $3::int[]`,
    values: [
      captures.map(({ facts }) => facts.underlying),
      captures.map(({ facts }) => facts.capturedAt),
      Array.from(expiries, epochDay),
    ],
  };
  // A capture that lists none of the expiries lists none of the contracts, and is not read.
  for (const { facts, wanted } of captures) for (const { lines } of wanted) lines.set(captureKey(facts), null);
  // Facts come again with the payload: a capture rewritten in between must not be half old, half new.
  await eachRow<Facts & { payload: Buffer }>(store, config, ({ payload, ...facts }) => {
    const block = openBlock(payload);
    const { facts: asked, wanted } = unread.get(placeOf(facts))!;
    for (const { contract, lines } of wanted) lines.set(captureKey(asked), lineOf(block, facts, contract));
  });
}

/** Lines kept of a contract beyond those asked for, at most. */
const mostLines = 1000;

interface Wanted extends ListedContract {
  captures: readonly (readonly [key: string, facts: Facts])[];
  lines: KnownLines;
}

/** What of each contract is not known yet, by capture; `lines` of such a contract becomes a copy that may be written. */
async function unreadOf(contracts: readonly Wanted[]): Promise<Map<string, Unread>> {
  const unread = new Map<string, Unread>();
  for (const [i, wanted] of contracts.entries()) {
    const missing = wanted.captures.filter(([key]) => !wanted.lines.has(key));
    if (missing.length > 0) wanted.lines = new Map(wanted.lines.size > mostLines ? [] : wanted.lines);
    for (const [key, facts] of wanted.captures) {
      if (wanted.lines.has(key)) continue;
      const place = placeOf(facts);
      if (!unread.has(place)) unread.set(place, { facts, wanted: [] });
      unread.get(place)!.wanted.push(wanted);
    }
    if (i % contractsATurn === contractsATurn - 1) await nextTurn();
  }
  return unread;
}

/**
 * What the last `captures` chain captures at or before `throughMs` say of several contracts: by contract path form the lines
 * of those that list it, ascending. A contract whose underlying was never captured is absent. Two statements, one when all
 * is cached; of a capture only the values asked for are decoded.
 */
export async function contractLines(
  store: Store,
  contracts: readonly ListedContract[],
  { throughMs, captures }: { throughMs: number; captures: number },
): Promise<Map<string, ContractLine[]>> {
  const ranges = contracts.map((listed) => ({
    underlying: listed.underlying,
    throughMs: lastMoment(listed, throughMs),
  }));
  const distinct = [...new Map(ranges.map((range) => [rangeKey(range), range])).values()];
  const facts = await readFacts(store, distinct, captures);
  const keyed = new Map(
    distinct.map((range, i) => [rangeKey(range), facts[i]!.map((one) => [captureKey(one), one] as const)]),
  );
  const wanted = contracts.map(
    (listed, i): Wanted => ({
      ...listed,
      captures: keyed.get(rangeKey(ranges[i]!))!,
      lines: store.blocks.get<KnownLines>(cacheKey(listed)) ?? new Map(),
    }),
  );
  const unread = await unreadOf(wanted);
  if (unread.size > 0) await readLines(store, unread);

  const read = new Set([...unread.values()].flatMap((capture) => capture.wanted));
  const found = new Map<string, ContractLine[]>();
  for (const [i, one] of wanted.entries()) {
    if (read.has(one)) store.blocks.set(cacheKey(one), one.lines, 200 + one.lines.size * lineBytes);
    if (one.captures.length > 0) {
      const lines = one.captures.map(([key]) => one.lines.get(key)).filter((line) => line != null);
      found.set(contractId(one.contract), lines);
    }
    if (i % contractsATurn === contractsATurn - 1) await nextTurn();
  }
  return found;
}
