import pg from 'pg';
import type { ChainCapture, ContractLine } from '../../domain/chain/chain.ts';
import { contractId, type OptionContract } from '../../domain/chain/option-contract.ts';
import { addDays, epochDay, exchangeInstant } from '../../domain/market-time.ts';
import { nextTurn } from '../../runtime/event-loop.ts';
import { type ColumnLayout, cutValue, type OpenBlock, openBlock } from '../engine/codec.ts';
import { readFrom, type Store } from '../engine/connection.ts';
import { statement } from '../engine/statement.ts';
import { lineColumns } from './chain-captures.ts';

/** A contract, and the underlying under which its chains are kept. */
export interface ListedContract {
  underlying: string;
  contract: OptionContract;
}

type Facts = Pick<ChainCapture, 'underlying' | 'capturedAt' | 'sessionDate' | 'spot' | 'priorCloseSpot'> & {
  version: string;
  /** Says which captures list the same contracts in the same order; null where that is not known. */
  listing: string | null;
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

const factColumns = {
  ...({ underlying: 'text', capturedAt: 'int8', sessionDate: 'text', spot: 'float8?' } as const),
  ...({ priorCloseSpot: 'float8?', version: 'text', listing: 'text?' } as const),
};

const captured = statement(
  'contract-line-captures',
  { underlyings: 'text[]', throughMs: 'int8[]', captures: 'int8' },
  { range: 'int8', ...factColumns },
);
const wholeChains = statement(
  'contract-line-chains',
  { underlyings: 'text[]', capturedAt: 'int8[]', expirations: 'int4[]' },
  { ...factColumns, payload: 'bytea' },
);
const cutLines = statement(
  'contract-line-cuts',
  { underlyings: 'text[]', capturedAt: 'int8[]', versions: 'text[]', places: 'text[]' },
  { ...factColumns, layout: 'text', cuts: 'bytea' },
);

/** The last `captures` captures of each range, ascending, with no rows read. One statement. */
async function readFacts(store: Store, ranges: readonly Range[], captures: number): Promise<Facts[][]> {
  const rows = await captured.rows(readFrom(store), {
    underlyings: ranges.map(({ underlying }) => underlying),
    throughMs: ranges.map(({ throughMs }) => throughMs),
    captures,
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

type LineValues = Record<(typeof lineColumns)[number], number>;

function lineOf(values: LineValues, { capturedAt, sessionDate, spot, priorCloseSpot }: Facts): ContractLine {
  const known = (name: keyof LineValues) => (Number.isNaN(values[name]) ? null : values[name]);
  return {
    ...{ capturedAt, sessionDate, spot, priorCloseSpot },
    ...{ volume: known('volume'), bid: known('bid'), ask: known('ask'), last: known('last') },
    ...{ iv: known('iv'), delta: known('delta'), gamma: known('gamma'), vega: known('vega') },
  };
}

const valuesOf = (read: (name: keyof LineValues) => number) =>
  Object.fromEntries(lineColumns.map((name) => [name, read(name)])) as LineValues;

/** Places of contracts in captures of one listing, by path form; −1: not listed. */
type Places = Map<string, number>;
const placesKey = (listing: string) => `listing:${listing}`;
/** Bytes a place takes in the cache, about. */
const placeBytes = 80;

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

/** Reads captures whole, one at a time, and learns where the contracts lie in those of their listing. One statement. */
async function readWhole(
  store: Store,
  captures: readonly Unread[],
  places: ReadonlyMap<string, Places>,
): Promise<void> {
  if (captures.length === 0) return;
  const byPlace = new Map(captures.map((capture) => [placeOf(capture.facts), capture]));
  const config = wholeChains.query({
    underlyings: captures.map(({ facts }) => facts.underlying),
    capturedAt: captures.map(({ facts }) => facts.capturedAt),
    expirations: Array.from(
      new Set(captures.flatMap(({ wanted }) => wanted.map(({ contract }) => contract.expiry))),
      epochDay,
    ),
  });
  // A capture that lists none of the expiries lists none of the contracts, and is not read.
  for (const { facts, wanted } of captures) {
    for (const { lines, contract } of wanted) {
      lines.set(captureKey(facts), null);
      places.get(facts.listing ?? '')?.set(contractId(contract), -1);
    }
  }
  // Facts come again with the payload: a capture rewritten in between must not be half old, half new.
  await eachRow<Facts & { payload: Buffer }>(store, config, ({ payload, ...facts }) => {
    const block = openBlock(payload);
    const { facts: asked, wanted } = byPlace.get(placeOf(facts))!;
    for (const { contract, lines } of wanted) {
      const index = rowOf(block, contract);
      if (facts.listing === asked.listing) places.get(facts.listing ?? '')?.set(contractId(contract), index);
      const line =
        index < 0
          ? null
          : lineOf(
              valuesOf((name) => block.number(name, index)),
              facts,
            );
      lines.set(captureKey(asked), line);
    }
  });
}

/** Cuts the lines of contracts whose places are known out of captures: of each no more than these comes over. One statement; those of captures rewritten in between are left out. */
async function readCuts(store: Store, captures: readonly Unread[], places: ReadonlyMap<string, Places>): Promise<void> {
  const cuts = captures.map(({ facts, wanted }) => {
    const known = places.get(facts.listing!)!;
    for (const { lines } of wanted) lines.set(captureKey(facts), null);
    return wanted
      .map((one) => ({ lines: one.lines, place: known.get(contractId(one.contract))! }))
      .filter(({ place }) => place >= 0);
  });
  const asked = captures
    .map((capture, i) => ({ ...capture, cuts: cuts[i]! }))
    .filter(({ cuts: own }) => own.length > 0);
  if (asked.length === 0) return;
  const byPlace = new Map(asked.map((one) => [placeOf(one.facts), one]));
  const config = cutLines.query({
    underlyings: asked.map(({ facts }) => facts.underlying),
    capturedAt: asked.map(({ facts }) => facts.capturedAt),
    versions: asked.map(({ facts }) => facts.version),
    places: asked.map(({ cuts: own }) => own.map(({ place }) => place).join(' ')),
  });
  await eachRow<Facts & { layout: string; cuts: Buffer }>(store, config, ({ layout, cuts: bytes, ...facts }) => {
    const columns = JSON.parse(layout) as ColumnLayout[];
    const width = columns.reduce((sum, column) => sum + column.bytes, 0);
    if (bytes.length !== width * byPlace.get(placeOf(facts))!.cuts.length)
      throw new RangeError('a chain whose lines are asked for is cut short');
    let at = 0;
    for (const { lines } of byPlace.get(placeOf(facts))!.cuts) {
      const values = {} as LineValues;
      for (const column of columns) {
        values[column.header.name as keyof LineValues] = cutValue(column, bytes.subarray(at, at + column.bytes));
        at += column.bytes;
      }
      lines.set(captureKey(facts), lineOf(values, facts));
    }
  });
}

/**
 * Reads what is missing: a capture of each listing whole, where that must be looked through for a contract, and out of the others what is
 * wanted. Two statements at most.
 */
async function readLines(store: Store, unread: ReadonlyMap<string, Unread>): Promise<void> {
  const captures = [...unread.values()];
  const listings = new Set(captures.map(({ facts }) => facts.listing).filter((listing) => listing !== null));
  const places = new Map(
    [...listings].map((listing) => [listing, new Map(store.blocks.get<Places>(placesKey(listing)))]),
  );
  const sought = new Set<string>();
  const whole: Unread[] = [];
  const cut: Unread[] = [];
  for (const capture of captures) {
    const { listing } = capture.facts;
    const known = listing === null ? undefined : places.get(listing);
    const news = capture.wanted.map(({ contract }) => `${listing} ${contractId(contract)}`);
    const isKnown = (key: string, i: number) => sought.has(key) || known!.has(contractId(capture.wanted[i]!.contract));
    if (known && news.every(isKnown)) cut.push(capture);
    else {
      whole.push(capture);
      for (const key of news) sought.add(key);
    }
  }
  await readWhole(store, whole, places);
  // What was rewritten while it was read has told nothing of its listing.
  const isPlaced = ({ facts, wanted }: Unread) =>
    wanted.every(({ contract }) => places.get(facts.listing!)!.has(contractId(contract)));
  await readCuts(store, cut.filter(isPlaced), places);
  for (const [listing, known] of places) store.blocks.set(placesKey(listing), known, 100 + known.size * placeBytes);
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
