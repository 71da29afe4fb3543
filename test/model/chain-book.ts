// The chains of a store that keeps its promises: files as they came, the groups that they make, and their figures.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { priceChain } from '../../src/core/analytics/chain/solve-chain.ts';
import { solveCapture } from '../../src/core/analytics/gex/solve-capture.ts';
import type { ChainCapture, ChainRow } from '../../src/core/domain/chain/chain.ts';
import type { Dividend } from '../../src/core/domain/market/dividends.ts';
import { sharedData } from '../support/shared-data.ts';
import { dateOf, minute, plusDays, tradingDay } from './calendar.ts';
import type { SourceChain } from './chain-files.ts';
import { knownTerms, type RootTerms, settledAt } from './chains.ts';
import { contractPath } from './world.ts';

/** Reference data of a time; it never changes. */
export interface Reference {
  /** The n-th of a life. */
  n: number;
  rates: readonly { date: string; days: number; rate: number }[];
  dividends: readonly Dividend[];
  roots: Readonly<Record<string, RootTerms>>;
}

/** A stored file of a session. */
interface StoredChain extends SourceChain {
  session: string;
  rows: readonly ChainRow[];
}

/** A group of files, as it is served. */
export interface Capture {
  underlying: string;
  session: string;
  capturedAt: number;
  delayMs: number;
  spot: number | null;
  priorCloseSpot: number | null;
  partial: boolean;
  /** By expiry, strike, call before put, root. */
  rows: readonly ChainRow[];
  /** Hashes of its files, in order. */
  files: readonly string[];
  /** True if it lacks contracts of the group that it was compared with, or there was none. */
  subset: boolean;
  alone: boolean;
  /** Expiries and rights of that group that have not settled, and those that it lacks. */
  pairs: number;
  lacking: number;
  /** The one before it in its session that is whole. */
  before: Capture | null;
  /** Reference data that it may have been computed with; later ones only if it uses what was solved before it. */
  references: readonly Reference[];
  later: readonly Reference[];
}

/** A capture as core solves it. */
export interface Solution {
  capture: Capture;
  /** Its rows with what was solved of them. */
  rows: readonly ChainRow[];
  reference: Reference;
}

/** Result of a file. */
export type Taken =
  | { kind: 'same' }
  | { kind: 'covered' }
  /** The stored content, from another file; it may be solved again if reference data changed since. */
  | { kind: 'equal'; isSolvedAgain: boolean }
  | { kind: 'refused' }
  | { kind: 'stored'; capture: Capture; lost: number };

const idOf = ({ capturedAt, files }: Pick<Capture, 'capturedAt' | 'files'>) => `${capturedAt} ${files}`;
const sourceOf = ({ capturedAt, delayMs }: Pick<SourceChain, 'capturedAt' | 'delayMs'>) => capturedAt - delayMs;
const sessionAt = (ms: number) => (tradingDay(dateOf(ms), 0) === dateOf(ms) ? dateOf(ms) : tradingDay(dateOf(ms), -1));
const contractsOf = (rows: readonly ChainRow[]) => new Set(rows.map(contractPath));
/** Number of contracts of a set that another lacks. */
const lacking = (of: ReadonlySet<string>, other: ReadonlySet<string>) =>
  [...of].filter((contract) => !other.has(contract)).length;
const quoted = (rows: readonly ChainRow[]) => rows.filter(({ bid, ask }) => bid !== null && ask !== null).length;
const pairOf = ({ expiry, right }: ChainRow) => `${expiry} ${right}`;
const inOrder = (rows: readonly ChainRow[]) => {
  const key = ({ expiry, strike, right, root }: ChainRow) =>
    `${expiry} ${String(strike).padStart(9, '0')} ${right} ${root}`;
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
};

/** True if two files say the same: the same content from another file is the same capture. */
const isSameContent = ({ hash: _a, ...a }: StoredChain, { hash: _b, ...b }: StoredChain) => isDeepStrictEqual(a, b);

let bills: Map<string, number> | null = null;

/** The rate of three-month US bills in force on a date: the mean of the month before. */
function billOn(date: string): number {
  bills ??= new Map(
    readFileSync(sharedData('reference/us_bill_rates.csv'), 'utf8')
      .split('\n')
      .map((line) => [line.split(',')[0]!, Number(line.split(',')[1]) / 100]),
  );
  const discount = bills.get(plusDays(`${date.slice(0, 7)}-01`, -1).slice(0, 7))!;
  return (-Math.log(1 - (discount * 91) / 360) * 365) / 91;
}

/** Inputs of core's pricing. */
function pricingOf({ rates, dividends, roots }: Reference, underlying: string, session: string) {
  const dates = rates.map(({ date }) => date).filter((date) => date <= session && date >= plusDays(session, -31));
  const last = dates.toSorted().at(-1);
  const curve = rates.filter(({ date }) => date === last).toSorted((a, b) => a.days - b.days);
  const bill = curve.length === 0 ? { rate: billOn(session) } : null;
  const of = (root: string) => {
    const { multiplier, ...terms } = roots[root]!;
    const counts = { multiplier: multiplier ?? 100, sharesPerContract: multiplier, adjusted: multiplier === null };
    return { root, ...terms, ...counts, followsSpot: true };
  };
  const own = dividends
    .filter(({ symbol }) => symbol === underlying)
    .toSorted((a, b) => (a.exDate < b.exDate ? -1 : 1));
  return { rate: 0.045, curve, bill, dividends: own, roots: { of } };
}

const captureOf = (capture: Capture): ChainCapture => {
  const { underlying, session: sessionDate, capturedAt, delayMs, spot, priorCloseSpot, partial } = capture;
  return { underlying, sessionDate, capturedAt, delayMs, spot, priorCloseSpot, partial, rows: [...capture.rows] };
};

const joinedMs = 15 * minute;
const isNear = (a: number, b: number, tolerance: number) => Math.abs(a / b - 1) <= tolerance;

export class ChainBook {
  #files: StoredChain[] = [];
  #captures = new Map<string, readonly Capture[]>();
  readonly #interest = new Map<string, Map<string, number>>();
  /** Captures as known at the instants at which it changed, ascending. */
  readonly #frames: { atMs: number; captures: ReadonlyMap<string, readonly Capture[]> }[] = [];
  readonly #solved = new Map<string, Solution[]>();
  readonly #rows = new Map<string, readonly ChainRow[]>();
  readonly #implied = new Map<string, boolean>();
  reference: Reference = { n: 0, rates: [], dividends: [], roots: knownTerms };
  /** Until when what was known is no longer stored. */
  prunedMs = -Infinity;

  /** Changes reference data. */
  refer(changed: Partial<Omit<Reference, 'n'>>): void {
    this.reference = { ...this.reference, ...changed, n: this.reference.n + 1 };
  }

  /** An underlying's captures, ascending by time; `known`: as of an earlier instant of the clock. */
  of(underlying: string, known: number | null = null): readonly Capture[] {
    const frame = known === null ? null : this.#frames.findLast(({ atMs }) => atMs <= known);
    return (known === null ? this.#captures : frame?.captures)?.get(underlying) ?? [];
  }

  /** Notes what is known from an instant on. */
  end(atMs: number): void {
    if (this.#frames.at(-1)?.atMs === atMs) this.#frames.pop();
    this.#frames.push({ atMs, captures: new Map(this.#captures) });
  }

  /** Instants at which it changed, since what was known before was deleted. */
  get instants(): readonly number[] {
    return this.#frames.map(({ atMs }) => atMs).filter((atMs) => atMs > this.prunedMs);
  }

  /** The chains of a file: all are taken, or none, which is null. */
  takeAll(chains: readonly SourceChain[], replace: boolean): Taken[] | null {
    const [files, captures] = [this.#files, new Map(this.#captures)];
    const taken = chains.map((chain) => this.take(chain, replace));
    if (taken.every(({ kind }) => kind !== 'refused')) return taken;
    [this.#files, this.#captures] = [files, captures];
    return null;
  }

  /** A chain that comes: beside those stored, in place of some, or not stored (methodology 13). */
  take(chain: SourceChain, replace: boolean): Taken {
    const { underlying } = chain;
    const rows = inOrder(chain.lines).map((line) => {
      return { ...line, sharesPerContract: line.sharesPerContract ?? this.reference.roots[line.root]!.multiplier };
    });
    const file: StoredChain = { ...chain, session: sessionAt(chain.capturedAt), rows };
    const own = contractsOf(rows);
    const at = this.#files.filter((each) => each.underlying === underlying && each.capturedAt === file.capturedAt);
    if (at.some(({ hash }) => hash === file.hash)) {
      this.#readAgain(file);
      return { kind: 'same' };
    }
    const replaced: StoredChain[] = [];
    let lost = 0;
    for (const other of at) {
      const theirs = contractsOf(other.rows);
      const missing = lacking(theirs, own);
      if (missing === theirs.size) continue;
      const isSame = missing === 0 && theirs.size === own.size;
      const knowsLess =
        isSame && ((file.spot === null && other.spot !== null) || quoted(rows) < 0.7 * quoted(other.rows));
      if (!replace && ((missing > 0 && lacking(own, theirs) === 0) || knowsLess)) return { kind: 'covered' };
      // One that has some of its contracts and lacks others is beside it, if it can be.
      if (!replace && missing > 0) continue;
      replaced.push(other);
      lost += missing;
    }
    const files = [...this.#files.filter((each) => !replaced.includes(each)), file];
    const groups = this.#groups(files, underlying, file.session);
    // Two chains of one instant cannot be: what is stored stands.
    if (new Set(groups.map((group) => group.at(-1)!.capturedAt)).size < groups.length) return { kind: 'refused' };
    const stored = this.of(underlying).find(({ files: own }) => own.length === 1 && own[0] === replaced[0]?.hash);
    const isAlone = groups.some((group) => group.length === 1 && group[0] === file);
    if (stored && isAlone && replaced.length === 1 && isSameContent(file, replaced[0]!)) {
      this.#readAgain(replaced[0]!);
      return { kind: 'equal', isSolvedAgain: stored.references.some((each) => each !== this.reference) };
    }
    this.#files = files;
    this.#make(underlying, file.session);
    const capture = this.of(underlying).find(
      (each) => each.session === file.session && each.files.includes(file.hash),
    )!;
    return { kind: 'stored', capture, lost };
  }

  /** A stored file that comes again may be read again, with the reference data of now. */
  #readAgain({ underlying, session, hash }: StoredChain): void {
    const captures = this.of(underlying);
    const own = captures.find((capture) => capture.session === session && capture.files.includes(hash))!;
    const again = captures.map((capture): Capture => {
      if (capture === own) return { ...capture, references: [...new Set([...capture.references, this.reference])] };
      const isAfter = capture.session === session && capture.capturedAt > own.capturedAt;
      return isAfter ? { ...capture, later: [...new Set([...capture.later, this.reference])] } : capture;
    });
    this.#captures.set(underlying, linked(again));
  }

  /** Open interest of contracts of a session, by their path form. */
  takeInterest(underlying: string, session: string, counts: ReadonlyMap<string, number>): void {
    const key = `${underlying} ${session}`;
    this.#interest.set(key, new Map([...(this.#interest.get(key) ?? []), ...counts]));
    this.#make(underlying, session);
  }

  /** Computes all captures with the reference data of now. Returns true if some may have had others. */
  recompute(): boolean {
    const all = [...this.#captures.values()].flat();
    const { reference } = this;
    for (const [underlying, captures] of this.#captures) {
      const now = captures.map((capture) => ({ ...capture, references: [reference], later: [] }));
      this.#captures.set(underlying, linked(now));
    }
    return all.some(({ references }) => references.some(({ n }) => n !== reference.n));
  }

  /** The groups of a session's files: by time of their quotes, then hash, each joins the open one or opens another. */
  #groups(files: readonly StoredChain[], underlying: string, session: string): StoredChain[][] {
    const own = files.filter((file) => file.underlying === underlying && file.session === session);
    const ordered = own.toSorted((a, b) => sourceOf(a) - sourceOf(b) || (a.hash < b.hash ? -1 : 1));
    const groups: StoredChain[][] = [];
    for (const file of ordered) {
      const open = groups.at(-1);
      if (open && this.#joins(open, file)) open.push(file);
      else groups.push([file]);
    }
    return groups;
  }

  #joins(group: readonly StoredChain[], file: StoredChain): boolean {
    const own = contractsOf(file.rows);
    if (group.some(({ rows }) => [...contractsOf(rows)].some((contract) => own.has(contract)))) return false;
    if (sourceOf(file) - sourceOf(group[0]!) > joinedMs) return false;
    const priced = group.filter(({ spot }) => spot !== null);
    const { spot } = file;
    if (spot === null || priced.every((other) => isNear(spot, other.spot!, 0.0025))) return true;
    return [...priced, file].every((each) => this.#impliesItsSpot(each));
  }

  /** True if a file's own quotes imply its spot. */
  #impliesItsSpot({ hash, underlying, session, spot, delayMs, capturedAt, rows }: StoredChain): boolean {
    const key = `${underlying} ${hash}`;
    const known = this.#implied.get(key);
    if (known !== undefined) return known;
    const times = { underlying, sessionDate: session, capturedAt, delayMs };
    const chain = { ...times, spot, priorCloseSpot: null, partial: false, rows: [...rows] };
    const { impliedSpot } = priceChain(chain, spot!, pricingOf(this.reference, underlying, session));
    const isImplied = impliedSpot !== null && isNear(impliedSpot, spot!, 0.0005);
    this.#implied.set(key, isImplied);
    return isImplied;
  }

  /** Makes the captures of an underlying again after a session changed. */
  #make(underlying: string, session: string): void {
    const stored = new Map(this.of(underlying).map((capture) => [idOf(capture), capture]));
    const sessions = new Set(this.#files.filter((file) => file.underlying === underlying).map((file) => file.session));
    const made = [...sessions].toSorted().flatMap((each) =>
      this.#groups(this.#files, underlying, each).map((files): Capture => {
        const latest = files.at(-1)!;
        const lastKnown = (name: 'spot' | 'priorCloseSpot') =>
          files.findLast((file) => file[name] !== null)?.[name] ?? null;
        const interest = this.#interest.get(`${underlying} ${each}`);
        const rows = files.flatMap((file) => file.rows);
        const joined = rows.map((row) => {
          return { ...row, openInterest: row.openInterest ?? interest?.get(contractPath(row)) ?? null };
        });
        return {
          underlying,
          session: each,
          capturedAt: latest.capturedAt,
          delayMs: latest.delayMs,
          spot: lastKnown('spot'),
          priorCloseSpot: lastKnown('priorCloseSpot'),
          partial: files.some((file) => file.partial),
          rows: inOrder(joined),
          files: files.map(({ hash }) => hash),
          subset: false,
          alone: false,
          pairs: 0,
          lacking: 0,
          before: null,
          references: [],
          later: [],
        };
      }),
    );
    const placed = made.map((capture) => this.#placed(capture, made));
    const isOther = (capture: Capture) => {
      const known = stored.get(idOf(capture));
      const isPlaced = known?.subset === capture.subset && known.alone === capture.alone;
      const isRead = capture.session !== session || JSON.stringify(known?.rows) === JSON.stringify(capture.rows);
      return !isPlaced || !isRead;
    };
    const ids = new Set(placed.map(idOf));
    const others = [...placed.filter(isOther), ...[...stored.values()].filter((capture) => !ids.has(idOf(capture)))];
    const referred = placed.map((capture): Capture => {
      const known = stored.get(idOf(capture));
      if (!known) return { ...capture, references: [this.reference] };
      const more = (references: readonly Reference[]) => [...new Set([...references, this.reference])];
      const { references, later } = known;
      if (isOther(capture)) return { ...capture, references: more(references), later };
      // One after a changed one of its session is solved again if it uses what was solved before it.
      const isAfter = others.some(
        (other) => other.session === capture.session && other.capturedAt <= capture.capturedAt,
      );
      return { ...capture, references, later: isAfter ? more(later) : later };
    });
    this.#captures.set(underlying, linked(referred));
  }

  /** A group beside the largest one of its session and the five before (methodology 13). */
  #placed(capture: Capture, all: readonly Capture[]): Capture {
    const since = tradingDay(capture.session, -5);
    const compared = all.filter(({ session }) => session >= since && session <= capture.session);
    const size = ({ rows }: Capture) => new Set(rows.map(pairOf)).size;
    const [reference] = compared.toSorted(
      (a, b) => size(b) - size(a) || b.rows.length - a.rows.length || a.capturedAt - b.capturedAt,
    );
    if (reference === capture)
      return { ...capture, alone: compared.every(({ capturedAt }) => capturedAt >= capture.capturedAt) };
    const own = contractsOf(capture.rows);
    const open = reference!.rows.filter(
      ({ expiry, root }) => settledAt(expiry, this.reference.roots[root]!) > sourceOf(capture),
    );
    const pairs = [...Map.groupBy(open, pairOf).values()];
    const has = (rows: readonly ChainRow[]) => rows.filter((row) => own.has(contractPath(row))).length;
    const lacks = pairs.filter((rows) => has(rows) < 0.7 * rows.length).length;
    return { ...capture, subset: lacks > 0, pairs: pairs.length, lacking: lacks };
  }

  /** The capture as core solves it, once for each set of reference data that it may have been computed with. */
  async solved(capture: Capture): Promise<readonly Solution[]> {
    const key = this.#solvedKey(capture);
    const known = this.#solved.get(key);
    if (known) return known;
    const all: Solution[] = [];
    for (const reference of unlike(capture.references, capture))
      all.push(...(await this.#solvedWith(capture, reference)));
    const usesEarlier = all.some((solution) => solution.rows.some((row) => isGap(solution, row)));
    for (const reference of usesEarlier ? unlike(capture.later, capture) : [])
      all.push(...(await this.#solvedWith(capture, reference)));
    this.#solved.set(key, all);
    return all;
  }

  /** Once for each way in which the capture before it may have been solved, if it uses its volatilities. */
  async #solvedWith(capture: Capture, reference: Reference): Promise<Solution[]> {
    const solve = async (volatilities: ReadonlyMap<string, number>): Promise<Solution> => {
      const rows = await this.#rowsSolved(capture, reference, volatilities);
      return { capture, rows, reference };
    };
    const alone = await solve(new Map());
    const gaps = alone.rows.filter((row) => !isQuoted(row)).map(contractPath);
    const earlier = gaps.length > 0 && capture.before ? await this.solved(capture.before) : [];
    const ways = earlier.map((solution) => {
      const volatilities = volatilitiesOf(solution);
      return new Map(gaps.filter((gap) => volatilities.has(gap)).map((gap) => [gap, volatilities.get(gap)!]));
    });
    const unlikeWays = [...new Map(ways.map((way) => [JSON.stringify([...way]), way])).values()];
    const all = ways.length === 0 || ways.some(({ size }) => size === 0) ? [alone] : [];
    for (const way of unlikeWays) if (way.size > 0) all.push(await solve(way));
    return all;
  }

  /** Rows as core solves them, once for equal inputs. */
  async #rowsSolved(capture: Capture, reference: Reference, volatilities: ReadonlyMap<string, number>) {
    const way = JSON.stringify([...volatilities]);
    const key = `${contentOf(capture)} ${effectOf(reference, capture)} ${way}`;
    const known = this.#rows.get(key);
    if (known) return known;
    const settings = { ...pricingOf(reference, capture.underlying, capture.session), gammaSource: 'solve' as const };
    const { chain } = await solveCapture(captureOf(capture), { ...settings, previousSolves: async () => volatilities });
    this.#rows.set(key, chain.rows);
    return chain.rows;
  }

  #solvedKey(capture: Capture | null): string {
    if (capture === null) return '';
    const { references, later, before } = capture;
    const numbers = [references, later].map((each) => each.map(({ n }) => n).join()).join(' ');
    return `${contentOf(capture)} ${numbers} (${this.#solvedKey(before)})`;
  }
}

/** The files of a capture, and what was joined to them. */
const contentOf = (capture: Capture) =>
  `${capture.underlying} ${idOf(capture)} ${capture.rows.map(({ openInterest }) => openInterest).join()}`;

/** The part of reference data that prices a capture. */
function effectOf(reference: Reference, { underlying, session, rows }: Capture): string {
  const terms = [...new Set(rows.map(({ root }) => root))].map((root) => reference.roots[root]);
  return JSON.stringify([pricingOf(reference, underlying, session), terms]);
}

/** Reference data that prices a capture in different ways. */
const unlike = (references: readonly Reference[], capture: Capture): Reference[] => [
  ...new Map(references.map((each) => [effectOf(each, capture), each])).values(),
];

/** True for a contract whose volatility is from quotes of its capture. */
function isQuoted({ solved }: ChainRow): boolean {
  return solved?.origin === 'outOfTheMoney' || solved?.origin === 'inTheMoney' || solved?.origin === 'interpolated';
}

/** True for a contract with exposures that the quotes of its capture do not solve. */
function isGap(solution: Solution, row: ChainRow): boolean {
  return !isQuoted(row) && isLive(solution, row);
}

/** True for a contract with exposures: neither settled, nor settled at the open of the day, nor adjusted. */
export function isLive({ capture, reference }: Omit<Solution, 'rows'>, { root, expiry }: ChainRow): boolean {
  const terms = reference.roots[root]!;
  const sourceMs = sourceOf(capture);
  const isAtOpen = terms.settlement === 'am' && expiry === dateOf(sourceMs);
  return terms.multiplier !== null && !isAtOpen && settledAt(expiry, terms) > sourceMs;
}

/** Volatilities that a capture solved, by contract. */
function volatilitiesOf(solution: Solution): Map<string, number> {
  const found = new Map<string, number>();
  for (const { solved: own, ...row } of solution.rows)
    if (own && own.iv !== null && own.origin !== 'source') found.set(contractPath(row), own.iv);
  return found;
}

/** Captures with the whole one before each in its session. */
function linked(captures: readonly Capture[]): Capture[] {
  const ascending = captures.toSorted((a, b) => a.capturedAt - b.capturedAt);
  let before: Capture | null = null;
  return ascending.map((each): Capture => {
    const capture: Capture = { ...each, before: before?.session === each.session ? before : null };
    if (!capture.subset) before = capture;
    return capture;
  });
}
