import type { Model } from '../rows/models/model-tables.ts';

/**
 * Subjects of stored data. All data of a subject and symbol has one version, which changes when any of it is written.
 */
export const subjects = [
  'registry',
  'corporate',
  'market',
  'chain',
  'gex',
  'flow',
  'offexchange',
  'provenance',
  // Stored earlier generations: an answer as of an instant of knowledge depends on them.
  'known',
] as const;
export type Subject = (typeof subjects)[number];

/** The changed symbols by subject; an absent subject did not change; null = any symbol may have changed. */
export type Change = Partial<Record<Subject, readonly string[] | null>>;

/** A change of unknown subjects and symbols. */
export const anyChange: Change = Object.fromEntries(subjects.map((subject) => [subject, null]));

/** Ids of the last commits by subject. */
export type CommitIds = Partial<Record<Subject, string>>;

/** The last commits of a symbol. */
export interface Commits {
  /** Those that named it. */
  own: Readonly<CommitIds>;
  /** Those that may be of any symbol. */
  any: Readonly<CommitIds>;
  /** `any` as text. */
  anyText: string;
}

/** The commit of a subject: a text that differs from that of any other. */
export function commitOf({ own, any }: Commits, subject: Subject): string {
  const ofAny = any[subject];
  return ofAny === undefined ? (own[subject] ?? '') : `${own[subject] ?? ''} ${ofAny}`;
}

/** The commits of a symbol after one more that named it. */
export function afterCommit(commits: Commits, subject: Subject, id: string): Commits {
  return { ...commits, own: { ...commits.own, [subject]: id } };
}

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** True if a change may concern `symbol`. */
export function concerns(change: Change, subject: Subject, symbol: string): boolean {
  const symbols = change[subject];
  if (!symbols) return symbols === null;
  const known = sets.get(symbols) ?? new Set(symbols);
  sets.set(symbols, known);
  return known.has(symbol);
}

/** The subject of a model, and its symbol field; null = its rows are always read as a whole. */
export interface ModelSubject {
  subject: Subject;
  symbol: string | null;
}

const of = (subject: Subject, symbol: string | null): ModelSubject => ({ subject, symbol });

/** The subject of each model; null = its data is not cached beyond the request. */
export const modelSubjects: Readonly<Record<Model, ModelSubject | null>> = {
  Symbol: of('registry', null),
  OptionRoot: of('registry', null),
  Split: of('corporate', 'symbol'),
  Dividend: of('corporate', 'symbol'),
  Rate: of('corporate', null),
  VolatilityDay: of('corporate', 'symbol'),
  BarBlock: of('market', 'symbol'),
  LiveQuote: of('market', 'symbol'),
  ChainCapture: of('chain', 'underlying'),
  OpenInterestBlock: of('chain', 'underlying'),
  OptionBarBlock: of('chain', 'underlying'),
  GreeksSlot: of('chain', 'underlying'),
  GreeksMinute: of('chain', 'underlying'),
  GexCapture: of('gex', 'underlying'),
  FlowCoverage: of('flow', 'underlying'),
  FlowEvent: of('flow', 'underlying'),
  FlowFeedEntry: of('flow', 'underlying'),
  FlowLeg: of('flow', 'underlying'),
  CrossSection: of('flow', 'underlying'),
  ContractMinuteBlock: of('flow', 'underlying'),
  RankedPrint: of('flow', 'scope'),
  RankedSession: of('flow', 'scope'),
  OffExchangeSession: of('offexchange', 'symbol'),
  OffExchangeComposition: of('offexchange', 'symbol'),
  OffExchangeConcentration: of('offexchange', 'symbol'),
  OffExchangeProfile: of('offexchange', 'symbol'),
  Generation: of('provenance', 'symbol'),
  OptionQuoteBlock: null,
  GenerationRun: null,
  SymbolCommit: null,
  Account: null,
  ApiKey: null,
  StreamTicket: null,
  UsageCount: null,
  Watchlist: null,
  SavedScreen: null,
  JournalAccount: null,
  JournalSize: null,
  JournalTrade: null,
  JournalImport: null,
  IngestedFile: null,
  SessionSeal: null,
  TapeSession: null,
  TapeRemainder: null,
  SessionOrigin: null,
  FollowedLines: null,
  MetadataEntry: null,
};

/** Changes of a transaction. */
export class ChangeSet {
  readonly #symbols = new Map<Subject, Set<string> | null>();
  #isOfAll = false;

  /** Adds a symbol of a subject; null = any of its symbols. */
  add(subject: Subject, symbol: string | null): void {
    const known = this.#symbols.get(subject);
    if (known === null) return;
    if (symbol === null) this.#symbols.set(subject, null);
    else if (known) known.add(symbol);
    else this.#symbols.set(subject, new Set([symbol]));
  }

  /** Adds the symbols of rows of a model, or of parts of their keys; those without a symbol concern any. */
  addRows(model: Model, rows: Iterable<object>): void {
    const owner = modelSubjects[model];
    if (owner === null) return;
    for (const row of rows) {
      const symbol = owner.symbol === null ? null : (row as Record<string, unknown>)[owner.symbol];
      this.add(owner.subject, typeof symbol === 'string' ? symbol : null);
    }
  }

  /** Adds every symbol of every subject to what is announced. */
  addAll(): void {
    this.#isOfAll = true;
  }

  /** The changes to announce; null = none. */
  announced(): Change | null {
    return this.#isOfAll ? anyChange : this.change();
  }

  /** The symbols that were added so far. */
  symbols(): string[] {
    return [...new Set([...this.#symbols.values()].flatMap((symbols) => (symbols === null ? [] : [...symbols])))];
  }

  /** The changes that were added one by one so far; null = none. */
  change(): Change | null {
    if (this.#symbols.size === 0) return null;
    return Object.fromEntries(Array.from(this.#symbols, ([subject, symbols]) => [subject, symbols && [...symbols]]));
  }
}
