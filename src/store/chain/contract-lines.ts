import pg from 'pg';
import { closeMinute } from '../../core/domain/calendar.ts';
import { type ChainCapture, type ContractLine, closingMs } from '../../core/domain/chain/chain.ts';
import { contractId, type OptionContract } from '../../core/domain/chain/option-contract.ts';
import { lastSession } from '../../core/domain/chain/option-root.ts';
import { addDays, epochDay, exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { statement } from '../rows/statement.ts';
import { type ColumnLayout, cutValue, known, type OpenBlock, openBlock } from '../series/codec.ts';
import { boundsOf, lineColumn, lineColumns, rowBytes } from './chain-captures.ts';

/** A contract, and the underlying under which its chains are stored. */
export interface ListedContract {
  underlying: string;
  contract: OptionContract;
}

type CaptureHeader = Pick<ChainCapture, 'underlying' | 'capturedAt' | 'sessionDate' | 'spot' | 'priorCloseSpot'> & {
  delayMs: number | null;
  version: string;
  /** Identifies captures with the same contracts in the same order; null if unknown. */
  listing: string | null;
};

/** One contract's lines of captures, by `captureKey`; null: not listed there. */
type KnownLines = Map<string, ContractLine | null>;

const captureKey = ({ capturedAt, version }: CaptureHeader) => `${capturedAt} ${version}`;
const captureIdOf = ({ underlying, capturedAt }: Pick<CaptureHeader, 'underlying' | 'capturedAt'>) =>
  `${underlying} ${capturedAt}`;
const cacheKey = ({ contract, underlying }: ListedContract) => `lines:${underlying}:${contractId(contract)}`;
/** Number of contracts whose lines are assembled before a yield to the event loop: under 5 ms of work. */
const contractsPerYield = 50;

/** A contract is not listed after its last session, so captures are searched up to the end of that date. */
function lastAtMs({ contract }: ListedContract, throughMs: number): number {
  return Math.min(throughMs, exchangeInstant(addDays(lastSession(contract.expiry), 1)) - 1);
}

interface Range {
  underlying: string;
  throughMs: number;
}
const rangeKey = ({ underlying, throughMs }: Range) => `${underlying} ${throughMs}`;

const headerColumns = {
  underlying: 'text',
  capturedAt: 'int8',
  sessionDate: 'text',
  spot: 'float8?',
  priorCloseSpot: 'float8?',
  version: 'text',
  delayMs: 'int4?',
  listing: 'text?',
} as const;

const captured = statement(
  'chain/contract-line-captures',
  { underlyings: 'text[]', throughMs: 'int8[]', captures: 'int8' },
  { nth: 'int8', ...headerColumns },
);
const closings = statement(
  'chain/contract-line-closings',
  { underlyings: 'text[]', sessions: 'text[]', closeMs: 'int8[]', atMs: 'int8', closingMs: 'int8' },
  { nth: 'int8', ...headerColumns },
);
const wholeChains = statement(
  'chain/contract-line-chains',
  { underlyings: 'text[]', capturedAt: 'int8[]', expirations: 'int4[]' },
  { ...headerColumns, payload: 'bytea' },
);
const cutLines = statement(
  'chain/contract-line-cuts',
  { underlyings: 'text[]', capturedAt: 'int8[]', versions: 'text[]', slots: 'text[]' },
  { ...headerColumns, layout: 'text', cuts: 'bytea' },
);

/** The last `captures` captures of each range, ascending, without reading rows. One statement. */
async function readHeaders(store: Store, ranges: readonly Range[], captures: number): Promise<CaptureHeader[][]> {
  const underlyings = ranges.map(({ underlying }) => underlying);
  const rows = await captured.rows(readFrom(store, 'chain', underlyings), {
    underlyings,
    throughMs: ranges.map(({ throughMs }) => throughMs),
    captures,
  });
  const found: CaptureHeader[][] = ranges.map(() => []);
  for (const { nth, ...header } of rows) found[nth - 1]!.push(header);
  return found;
}

/** Index of a contract's row in a capture, which is ordered by expiry, strike, call before put, root; -1: none. */
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

/** NaN = unknown; a value is absent if its capture was written or cut before the column existed. */
type LineValues = Partial<Record<(typeof lineColumns)[number], number>>;

function lineOf(values: LineValues, header: CaptureHeader): ContractLine {
  const { capturedAt, delayMs, sessionDate, spot, priorCloseSpot } = header;
  const value = (name: Exclude<keyof LineValues, 'filled'>) => known(values[name] ?? Number.NaN);
  const withinBounds = boundsOf(values.filled ?? 0);
  return {
    capturedAt,
    delayMs,
    sessionDate,
    spot,
    priorCloseSpot,
    volume: value('volume'),
    bid: value('bid'),
    ask: value('ask'),
    last: value('last'),
    iv: value('iv'),
    delta: value('delta'),
    gamma: value('gamma'),
    vega: value('vega'),
    // Captures of before these were cut say nothing of them in a cut.
    ...('openInterest' in values ? { openInterest: value('openInterest'), theta: value('theta') } : {}),
    ...(withinBounds === undefined ? {} : { withinBounds }),
  };
}

/** The values of a block's row. */
function valuesOf(block: OpenBlock, index: number): LineValues {
  const columns = lineColumns.map((name) => [name, lineColumn(block, name)] as const);
  const present = columns.filter(([, column]) => block.has(column));
  return Object.fromEntries(present.map(([name, column]) => [name, block.number(column, index)])) as LineValues;
}

/** Slots of contracts in captures of one listing, by path form; −1: not listed. */
type SlotMap = Map<string, number>;
const slotsKey = (listing: string) => `listing:${listing}`;
/** Approximate bytes of a cached slot. */
const slotBytes = 80;

/** Runs a statement whose rows are taken one by one as they come, so that never more than one is held. */
async function eachRowOf<Row>(client: pg.PoolClient, config: pg.QueryConfig, take: (row: Row) => void) {
  // An error thrown in a row's event would end the process: it waits for the statement's end.
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
  return { failed, unreadable };
}

async function eachRow<Row>(store: Store, configs: readonly pg.QueryConfig[], take: (row: Row) => void): Promise<void> {
  for (const each of configs) {
    const config = store.known ? await store.known.statement(each) : each;
    const { failed, unreadable } = await withConnection(store, (client) => eachRowOf(client, config, take));
    if (failed ?? unreadable) throw failed ?? unreadable;
  }
}

async function withConnection<T extends { failed: Error | undefined }>(
  { snapshot, view, primary, pool }: Store,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  if (snapshot) return snapshot.use(work);
  view?.readOnFrom(primary);
  const client = await pool.connect();
  const result = await work(client);
  client.release(result.failed);
  return result;
}

/** A capture with unread lines of some contracts. */
interface Unread {
  header: CaptureHeader;
  wanted: Wanted[];
}

/**
 * Reads whole captures, one at a time, and finds the slots of the contracts in captures of their listing. One
 * statement.
 */
async function readWhole(
  store: Store,
  captures: readonly Unread[],
  slots: ReadonlyMap<string, SlotMap>,
): Promise<void> {
  if (captures.length === 0) return;
  const byCapture = new Map(captures.map((capture) => [captureIdOf(capture.header), capture]));
  const configs = wholeChains.queries(store.primary, {
    underlyings: captures.map(({ header }) => header.underlying),
    capturedAt: captures.map(({ header }) => header.capturedAt),
    expirations: Array.from(
      new Set(captures.flatMap(({ wanted }) => wanted.map(({ contract }) => contract.expiry))),
      epochDay,
    ),
  });
  // A capture without any of the expiries has none of the contracts, and is not read.
  for (const { header, wanted } of captures) for (const { lines } of wanted) lines.set(captureKey(header), null);
  const rewritten = new Set<Unread>();
  // Headers are read again with the payload: a capture rewritten in between must not be mixed.
  await eachRow<CaptureHeader & { payload: Buffer }>(store, configs, ({ payload, ...header }) => {
    const block = openBlock(payload);
    const capture = byCapture.get(captureIdOf(header))!;
    const { header: asked, wanted } = capture;
    if (header.listing !== asked.listing) rewritten.add(capture);
    for (const { contract, lines } of wanted) {
      const index = rowOf(block, contract);
      if (header.listing === asked.listing) slots.get(header.listing ?? '')?.set(contractId(contract), index);
      const line = index < 0 ? null : lineOf(valuesOf(block, index), header);
      lines.set(captureKey(asked), line);
    }
  });
  for (const capture of captures) if (!rewritten.has(capture)) placeNowhere(capture, slots);
}

/** Records that contracts not found in a capture are in none of its listing. */
function placeNowhere({ header, wanted }: Unread, slots: ReadonlyMap<string, SlotMap>): void {
  const known = slots.get(header.listing ?? '');
  for (const { contract } of wanted) if (!known?.has(contractId(contract))) known?.set(contractId(contract), -1);
}

/**
 * Cuts the lines of contracts with known slots out of captures, so that only these are transferred. One statement;
 * those of captures rewritten in between are omitted.
 */
async function readCuts(store: Store, captures: readonly Unread[], slots: ReadonlyMap<string, SlotMap>): Promise<void> {
  const cuts = captures.map(({ header, wanted }) => {
    const known = slots.get(header.listing!)!;
    for (const { lines } of wanted) lines.set(captureKey(header), null);
    return wanted
      .map((one) => ({ lines: one.lines, slot: known.get(contractId(one.contract))! }))
      .filter(({ slot }) => slot >= 0);
  });
  const asked = captures
    .map((capture, i) => ({ ...capture, cuts: cuts[i]! }))
    .filter(({ cuts: own }) => own.length > 0);
  if (asked.length === 0) return;
  const byCapture = new Map(asked.map((one) => [captureIdOf(one.header), one]));
  const configs = cutLines.queries(store.primary, {
    underlyings: asked.map(({ header }) => header.underlying),
    capturedAt: asked.map(({ header }) => header.capturedAt),
    versions: asked.map(({ header }) => header.version),
    slots: asked.map(({ cuts: own }) => own.map(({ slot }) => slot).join(' ')),
  });
  await eachRow<CaptureHeader & { layout: string; cuts: Buffer }>(
    store,
    configs,
    ({ layout, cuts: bytes, ...header }) => {
      const columns = JSON.parse(layout) as ColumnLayout[];
      const width = columns.reduce((sum, column) => sum + column.bytes, 0);
      if (bytes.length !== width * byCapture.get(captureIdOf(header))!.cuts.length)
        throw new RangeError('a chain whose lines are asked for is cut short');
      let at = 0;
      for (const { lines } of byCapture.get(captureIdOf(header))!.cuts) {
        const values = {} as LineValues;
        for (const column of columns) {
          values[column.header.name as keyof LineValues] = cutValue(column, bytes.subarray(at, at + column.bytes));
          at += column.bytes;
        }
        lines.set(captureKey(header), lineOf(values, header));
      }
    },
  );
}

/**
 * Reads missing lines: one whole capture of each listing, if a contract must be searched there, and cuts out of the
 * others. Two statements, more if a capture is rewritten meanwhile.
 */
async function readLines(store: Store, unread: ReadonlyMap<string, Unread>): Promise<void> {
  const captures = [...unread.values()];
  const listings = new Set(captures.map(({ header }) => header.listing).filter((listing) => listing !== null));
  const slots = new Map(
    [...listings].map((listing) => [listing, new Map(store.blocks.get<SlotMap>(slotsKey(listing)))]),
  );
  const sought = new Set<string>();
  const whole: Unread[] = [];
  const cut: Unread[] = [];
  for (const capture of captures) {
    const { listing } = capture.header;
    const known = listing === null ? undefined : slots.get(listing);
    const news = capture.wanted.map(({ contract }) => `${listing} ${contractId(contract)}`);
    const isKnown = (key: string, i: number) => sought.has(key) || known!.has(contractId(capture.wanted[i]!.contract));
    if (known && news.every(isKnown)) cut.push(capture);
    else {
      whole.push(capture);
      for (const key of news) sought.add(key);
    }
  }
  await readWhole(store, whole, slots);
  // A capture rewritten meanwhile gives no slots: those of its listing are read whole as well.
  const isPlaced = ({ header, wanted }: Unread) =>
    wanted.every(({ contract }) => slots.get(header.listing!)!.has(contractId(contract)));
  const [placed, unplaced] = [cut.filter(isPlaced), cut.filter((capture) => !isPlaced(capture))];
  await readWhole(store, unplaced, slots);
  await readCuts(store, placed, slots);
  for (const [listing, known] of slots) store.blocks.set(slotsKey(listing), known, 100 + known.size * slotBytes);
}

/** Maximum number of lines cached per contract beyond the requested ones. */
const mostLines = 1000;

interface Wanted extends ListedContract {
  captures: readonly (readonly [key: string, header: CaptureHeader])[];
  lines: KnownLines;
}

/**
 * Lines of each contract that are not known yet, by capture; `lines` of such a contract becomes a copy that may be
 * written.
 */
async function unreadOf(
  contracts: readonly Wanted[],
  isKnown = (lines: KnownLines, key: string) => lines.has(key),
): Promise<Map<string, Unread>> {
  const unread = new Map<string, Unread>();
  for (const [i, wanted] of contracts.entries()) {
    const missing = wanted.captures.filter(([key]) => !isKnown(wanted.lines, key));
    if (missing.length > 0) wanted.lines = new Map(wanted.lines.size > mostLines ? [] : wanted.lines);
    for (const [, header] of missing) {
      const id = captureIdOf(header);
      if (!unread.has(id)) unread.set(id, { header, wanted: [] });
      unread.get(id)!.wanted.push(wanted);
    }
    if (i % contractsPerYield === contractsPerYield - 1) await yieldToEventLoop();
  }
  return unread;
}

/** True for a line that has its open interest, and for a contract that its capture does not list. */
function isWhole(lines: KnownLines, key: string): boolean {
  const line = lines.get(key);
  return line === null || line?.openInterest !== undefined;
}

/** The lines of contracts in captures, by contract path form; those of a contract without a capture are absent. */
async function linesIn(
  store: Store,
  contracts: readonly ListedContract[],
  captures: readonly Wanted['captures'][],
  whole: boolean,
): Promise<Map<string, ContractLine[]>> {
  const wanted = contracts.map(
    (listed, i): Wanted => ({
      ...listed,
      captures: captures[i]!,
      lines: store.blocks.get<KnownLines>(cacheKey(listed)) ?? new Map(),
    }),
  );
  const unread = await unreadOf(wanted);
  if (unread.size > 0) await readLines(store, unread);
  const cut = whole ? await unreadOf(wanted, isWhole) : new Map<string, Unread>();
  if (cut.size > 0) await readWhole(store, [...cut.values()], new Map());

  const read = new Set([...unread.values(), ...cut.values()].flatMap((capture) => capture.wanted));
  const found = new Map<string, ContractLine[]>();
  for (const [i, one] of wanted.entries()) {
    if (read.has(one)) store.blocks.set(cacheKey(one), one.lines, 200 + one.lines.size * rowBytes);
    if (one.captures.length > 0) {
      const lines = one.captures.map(([key]) => one.lines.get(key)).filter((line) => line != null);
      found.set(contractId(one.contract), lines);
    }
    if (i % contractsPerYield === contractsPerYield - 1) await yieldToEventLoop();
  }
  return found;
}

/**
 * Lines of several contracts in the last `captures` chain captures at or before `throughMs`: by contract path form the
 * lines of those that list it, ascending. A contract whose underlying was never captured is absent. Two statements, one
 * if all are cached; of a capture only the requested values are decoded.
 */
export async function contractLines(
  store: Store,
  contracts: readonly ListedContract[],
  { throughMs, captures }: { throughMs: number; captures: number },
): Promise<Map<string, ContractLine[]>> {
  const ranges = contracts.map((listed) => ({
    underlying: listed.underlying,
    throughMs: lastAtMs(listed, throughMs),
  }));
  const distinct = [...new Map(ranges.map((range) => [rangeKey(range), range])).values()];
  const headers = await readHeaders(store, distinct, captures);
  const keyed = new Map(
    distinct.map((range, i) => [rangeKey(range), headers[i]!.map((one) => [captureKey(one), one] as const)]),
  );
  return linesIn(
    store,
    contracts,
    ranges.map((range) => keyed.get(rangeKey(range))!),
    false,
  );
}

/** The header of the last capture (`lastOfSession`) of each session by `atMs`, by underlying. One statement. */
async function closingHeaders(
  store: Store,
  underlyings: readonly string[],
  sessions: readonly SessionDate[],
  atMs: number,
) {
  const asked = underlyings.flatMap((underlying) => sessions.map((session) => ({ underlying, session })));
  const rows = await closings.rows(readFrom(store, 'chain', underlyings), {
    underlyings: asked.map(({ underlying }) => underlying),
    sessions: asked.map(({ session }) => session),
    closeMs: asked.map(({ session }) => exchangeInstant(session, closeMinute(session))),
    atMs,
    closingMs,
  });
  const found = new Map<string, CaptureHeader[]>(underlyings.map((underlying) => [underlying, []]));
  for (const { nth: _, ...header } of rows) found.get(header.underlying)!.push(header);
  return found;
}

/**
 * Lines of several contracts in the last capture (`lastOfSession`) of each session as of `atMs`, with open interest and
 * theta: by contract path form, ascending. Four statements at most, however many contracts and sessions; one when all
 * is cached.
 */
export async function contractLinesOfSessions(
  store: Store,
  contracts: readonly ListedContract[],
  sessions: readonly SessionDate[],
  atMs: number,
): Promise<Map<string, ContractLine[]>> {
  const underlyings = [...new Set(contracts.map(({ underlying }) => underlying))];
  const last = await closingHeaders(store, underlyings, sessions, atMs);
  return linesIn(
    store,
    contracts,
    contracts.map(({ underlying }) => last.get(underlying)!.map((header) => [captureKey(header), header] as const)),
    true,
  );
}
