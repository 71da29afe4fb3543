import {
  compareFiles,
  type FileTests,
  filesOf,
  type GroupedFile,
  groupOf,
  isImplied,
  joinsGroup,
  knowsLess,
} from '../../../core/analytics/chain/chain-files.ts';
import { priceChain } from '../../../core/analytics/chain/solve-chain.ts';
import { type ChainCapture, sourceTime } from '../../../core/domain/chain/chain.ts';
import {
  type ContractList,
  contractList,
  haveCommon,
  inOrder,
  lacking,
} from '../../../core/domain/chain/contract-list.ts';
import { contractId } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import {
  type CaptureOutline,
  listedContracts,
  StoredListings,
  sessionCaptures,
} from '../../../store/chain/capture-outlines.ts';
import { chainCaptureOf, hashOfChain } from '../../../store/chain/chain-captures.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { readReference } from './market-reference.ts';

/** A file of a session's chains: one that comes, or of a stored capture. */
export interface SessionFile extends GroupedFile {
  /** Base name; null = it was no file. */
  name: string | null;
  /** Epoch ms: the time of the source's page. */
  capturedAt: number;
  /** The stored capture that has it, and its index there; null = it comes. */
  of: { capturedAt: number; index: number } | null;
}

/** Files of one capture, in order. */
export interface Group {
  /** Epoch ms: the time of the latest. */
  capturedAt: number;
  files: readonly SessionFile[];
}

/** Settings of reading a session's files. */
export interface SessionSettings {
  roots: OptionRoots;
  /** Rate where no curve is stored. */
  rate: number;
  /** Delay of all its files; null = as stored. */
  delayMs: number | null;
  /** The chain as its source wrote it, of one that an older version stored. */
  source(chain: ChainCapture): ChainCapture;
}

/** Treatment of a file that comes: beside those stored, in place of some, or not stored. */
export interface Taking {
  /** True if stored files of its instant have all of it. */
  isCovered: boolean;
  /** Files that it replaces, and the contracts that are lost with them. */
  replaced: readonly SessionFile[];
  lost: readonly string[];
}

/** The groups of a session that change. */
export interface Regrouping {
  changed: readonly Group[];
  /** Times of stored captures that are none any more. */
  gone: readonly number[];
  /** Time of two groups, which cannot both be stored; null = none. */
  doubled: number | null;
}

/** Sets the delay of a chain and its files; null: leaves it. */
export function delayed(chain: ChainCapture, delayMs: number | null): ChainCapture {
  if (delayMs === null) return chain;
  return { ...chain, delayMs, ...(chain.files && { files: chain.files.map((file) => ({ ...file, delayMs })) }) };
}

/** A chain as a file of a group: in order, with its hash. */
export function asFile(chain: ChainCapture): ChainCapture {
  const own = { ...chain, rows: inOrder(chain.rows) };
  return { ...own, hash: chain.file?.sha256 ?? chain.hash ?? hashOfChain(own) };
}

/** A chain of this version as its source wrote it. */
export const asStored = (chain: ChainCapture) => chain;

const idsOf = (files: readonly Pick<SessionFile, 'hash' | 'capturedAt'>[]) =>
  files.map(({ hash, capturedAt }) => `${hash} ${capturedAt}`).join();

/**
 * The files behind the captures of an underlying's session, and the groups that they make (methodology 13). The
 * transaction must hold the captures.
 */
export class SessionGroups {
  readonly underlying: string;
  readonly sessionDate: SessionDate;
  readonly listings: StoredListings;
  readonly #tx: Transaction;
  readonly #settings: SessionSettings;
  readonly #stored: ReadonlyMap<number, CaptureOutline>;
  #files: SessionFile[];
  readonly #coming = new Map<SessionFile, ChainCapture>();
  readonly #split = new Map<number, ChainCapture[]>();
  readonly #contracts = new Map<SessionFile, ContractList>();

  constructor(
    tx: Transaction,
    { underlying, sessionDate }: Pick<ChainCapture, 'underlying' | 'sessionDate'>,
    stored: readonly CaptureOutline[],
    settings: SessionSettings,
  ) {
    this.#tx = tx;
    this.underlying = underlying;
    this.sessionDate = sessionDate;
    this.listings = new StoredListings(tx, underlying);
    this.#settings = settings;
    this.#stored = new Map(stored.map((outline) => [outline.capturedAt, outline]));
    this.#files = stored.flatMap((outline) =>
      (outline.files ?? [outline]).map(({ hash, name, capturedAt, delayMs, spot }, index): SessionFile => {
        const sourceMs = sourceTime({ capturedAt, delayMs: settings.delayMs ?? delayMs });
        return { hash: hash ?? '', name, sourceMs, spot, capturedAt, of: { capturedAt: outline.capturedAt, index } };
      }),
    );
    this.#files.sort(compareFiles);
  }

  /** The captures of the session as they are stored, by time. */
  get stored(): ReadonlyMap<number, CaptureOutline> {
    return this.#stored;
  }

  /** Reads a file's chain, as it came. */
  async chainOf(file: SessionFile): Promise<ChainCapture> {
    const { of } = file;
    if (of === null) return this.#coming.get(file)!;
    let files = this.#split.get(of.capturedAt);
    if (!files) {
      const { source, delayMs } = this.#settings;
      const stored = (await chainCaptureOf(this.#tx, this.underlying, of.capturedAt))!;
      files = filesOf(delayed(source(stored), delayMs));
      this.#split.set(of.capturedAt, files);
    }
    return files[of.index]!;
  }

  /** The capture of a group, before it is solved. */
  async captureOf({ files }: Group): Promise<ChainCapture> {
    const chains: ChainCapture[] = [];
    for (const file of files) chains.push(await this.chainOf(file));
    return groupOf(chains);
  }

  /** Adds a file that comes. */
  add(chain: ChainCapture): SessionFile {
    const { capturedAt, spot, hash } = chain;
    const name = chain.file?.name ?? null;
    const file: SessionFile = { hash: hash!, name, sourceMs: sourceTime(chain), spot, capturedAt, of: null };
    this.#coming.set(file, chain);
    this.#files = [...this.#files, file].sort(compareFiles);
    return file;
  }

  /** Finds what becomes of a file that comes, beside those of its instant. `replace`: whatever is lost. */
  async taking(added: SessionFile, replace: boolean): Promise<Taking> {
    const chain = this.#coming.get(added)!;
    const own = await this.#contractsOf(added);
    const replaced: SessionFile[] = [];
    const lost: string[] = [];
    for (const file of this.#files) {
      if (file === added || file.capturedAt !== added.capturedAt) continue;
      const other = await this.#contractsOf(file);
      if (file.hash !== added.hash && !haveCommon(own, other)) continue;
      const missing = lacking(other, own);
      const isLess = missing.length > 0 && lacking(own, other).length === 0;
      const isSame = missing.length === 0 && own.root.length === other.root.length && file.hash !== added.hash;
      const knows = !isSame || !knowsLess(chain, await this.chainOf(file));
      if (replace || (missing.length === 0 && knows)) replaced.push(file);
      else if (isLess || !knows) return { isCovered: true, replaced: [], lost: [] };
      else continue;
      if (missing.length > 0) {
        const { rows } = await this.chainOf(file);
        lost.push(...missing.map((index) => contractId(rows[index]!)));
      }
    }
    return { isCovered: false, replaced, lost };
  }

  /** The contracts that the stored capture of an instant has and a file lacks. */
  async lackedBy(file: SessionFile, capturedAt: number): Promise<string[]> {
    const stored = await chainCaptureOf(this.#tx, this.underlying, capturedAt);
    const rows = stored?.rows ?? [];
    const own = await this.#contractsOf(file);
    return lacking(contractList(rows), own).map((index) => contractId(rows[index]!));
  }

  /**
   * Makes the groups again after a file came in place of others: only those that depend on it. Without a file, all
   * groups.
   */
  async regrouped(added: SessionFile | null, replaced: readonly SessionFile[]): Promise<Regrouping> {
    const touched = added === null ? [] : [added, ...replaced].sort(compareFiles);
    const last = touched.at(-1);
    const before = this.#files.findLastIndex((file) => touched.length > 0 && compareFiles(file, touched[0]!) < 0);
    const first = before < 0 ? null : this.#files[before]!.of?.capturedAt;
    const left = new Set(replaced);
    this.#files = this.#files.filter((file) => !left.has(file));
    const from = first == null ? 0 : this.#files.findIndex(({ of }) => of?.capturedAt === first);
    const groups: SessionFile[][] = [];
    const seen = new Set(replaced.map(({ of }) => of!.capturedAt));
    for (const file of this.#files.slice(from)) {
      const open = groups.at(-1);
      if (open && (await joinsGroup(open, file, this.#tests))) open.push(file);
      else {
        if (last && compareFiles(file, last) > 0 && this.#opensStored(file)) break;
        for (const each of open ?? []) this.#contracts.delete(each);
        groups.push([file]);
      }
      if (file.of) seen.add(file.of.capturedAt);
    }
    return this.#differences(groups, seen);
  }

  /** True if a file is the first of its stored capture, which no file before it is in. */
  #opensStored({ of }: SessionFile): boolean {
    return of !== null && of.index === 0;
  }

  #differences(grouped: readonly SessionFile[][], seen: ReadonlySet<number>): Regrouping {
    const groups = grouped.map((files): Group => ({ capturedAt: files.at(-1)!.capturedAt, files }));
    const changed = groups.filter((group) => {
      const stored = this.#stored.get(group.capturedAt);
      if (stored === undefined || stored.isJoined || group.files.some(({ of }) => of === null)) return true;
      return group.files.some(({ of }) => of!.capturedAt !== group.capturedAt) || !this.#isWhole(stored, group);
    });
    const instants = new Set<number>();
    let doubled: number | null = null;
    for (const { capturedAt } of groups) {
      const isOther = this.#stored.has(capturedAt) && !seen.has(capturedAt);
      if (isOther || instants.has(capturedAt)) doubled ??= capturedAt;
      instants.add(capturedAt);
    }
    return { changed, gone: [...seen].filter((capturedAt) => !instants.has(capturedAt)), doubled };
  }

  #isWhole({ files, hash, capturedAt }: CaptureOutline, group: Group): boolean {
    return idsOf(group.files) === idsOf(files ?? [{ hash: hash ?? '', capturedAt }]);
  }

  readonly #tests: FileTests<SessionFile> = {
    areDisjoint: async (a, b) => !haveCommon(await this.#contractsOf(a), await this.#contractsOf(b)),
    impliesSpot: async (file) => {
      const { roots, rate } = this.#settings;
      const chain = await this.chainOf(file);
      const reference = await readReference(this.#tx, chain, rate);
      return isImplied(file.spot!, priceChain(chain, file.spot!, { ...reference, roots }).impliedSpot);
    },
  };

  async #contractsOf(file: SessionFile): Promise<ContractList> {
    const known = this.#contracts.get(file);
    if (known) return known;
    const contracts = await this.#readContracts(file);
    this.#contracts.set(file, contracts);
    return contracts;
  }

  async #readContracts(file: SessionFile): Promise<ContractList> {
    const { of } = file;
    const stored = of && this.#stored.get(of.capturedAt)!;
    if (of === null || stored === null || stored.isJoined)
      return contractList(inOrder((await this.chainOf(file)).rows));
    if (stored.files === null) return this.listings.contractsOf(stored);
    const { contracts, part } = await listedContracts(this.#tx, this.underlying, of.capturedAt);
    if (part === null) return contracts;
    const own = Array.from(part.keys()).filter((i) => part[i] === of.index);
    const { root, day, put, strike } = contracts;
    const pick = (values: Float64Array) => Float64Array.from(own, (i) => values[i]!);
    return { root: own.map((i) => root[i]!), day: pick(day), put: pick(put), strike: pick(strike) };
  }
}

/** The files behind the captures of a session. The transaction must hold the captures. */
export async function sessionGroups(
  tx: Transaction,
  of: Pick<ChainCapture, 'underlying' | 'sessionDate'>,
  settings: SessionSettings,
): Promise<SessionGroups> {
  return new SessionGroups(tx, of, await sessionCaptures(tx, of.underlying, of.sessionDate), settings);
}
