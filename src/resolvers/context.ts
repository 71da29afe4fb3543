import type { Caller } from '../access/caller.ts';
import type { Access } from '../access/open-access.ts';
import type { OptionContract } from '../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../core/domain/chain/option-root.ts';
import type { SymbolEntry } from '../core/domain/market/symbol.ts';
import type { LiveHub } from '../live/hub.ts';
import type { Provenance } from '../platform/config/config.ts';
import type { Batching } from '../platform/runtime/batched.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import { type MaybePromise, whenThere } from '../platform/runtime/maybe-promise.ts';
import type { OneCommit, SharedWork } from '../platform/runtime/once-per-request.ts';
import type { RandomBytes } from '../platform/runtime/ulid.ts';
import { knownFailure, notFound, sourceFailed, sourceNotConfigured } from '../platform/wire/failure.ts';
import type { ListedContract } from '../store/chain/contract-lines.ts';
import { type SymbolRegistry, symbolRegistry } from '../store/market/symbols.ts';
import type { Store } from '../store/rows/connection.ts';
import { readsOf } from '../store/versions/reads.ts';

/** The datasets with a configurable source. */
export const datasets = ['bars', 'chain', 'option_tape', 'stock_tape', 'option_bars'] as const;
export type Dataset = (typeof datasets)[number];

/** Services of a server for all requests. */
export interface Services {
  store: Store;
  access: Access;
  /** True for the datasets with a source. */
  sources: Record<Dataset, boolean>;
  now: Clock;
  /** Creates unpredictable ids. */
  random: RandomBytes;
  /** Live events. */
  live: LiveHub;
  /** Maximum number of rows in the journal of an account. */
  journalMaxRows: number;
  /** Maximum number of saved screens of an account. */
  maxSavedScreens: number;
  /** Decides who sees the names of files. */
  provenance: Provenance;
}

/** The instants of an answer about the past, as they were requested. */
export interface Past {
  /** Event time, epoch ms; null = live. */
  atMs: number | null;
  /** Knowledge time, epoch ms; null = now. */
  knownMs: number | null;
}

/** Context of one request in resolvers. */
export interface RequestContext extends Services, Batching, SharedWork, OneCommit {
  /** The store as the request reads it: each symbol's data of one commit. */
  store: Store;
  /** The store of the process, for what others than this request use as well. */
  sharedStore: Store;
  caller: Caller;
  /** Done once, however often the request reads. */
  taken: SharedWork;
  /** The instant of the request: all of an answer is as of this instant. */
  nowMs: number;
  /** Set below `asOf`, whose event time is `nowMs`; null = the answer is live. */
  past: Past | null;
  /** Contexts of the request's instants in the past, by these. */
  pasts: Map<string, RequestContext>;
  /** The request's store of data as it was known at an instant, epoch ms. */
  asKnown(atMs: number): Store;
  /** Loaders that the request's instants share, see `ofAllInstants`. */
  sharedLoaders: Batching['loaders'];
  /** Registers a clean-up that runs when the request ends, however it ends. */
  onEnd: (undo: () => void) => void;
  /** Predicted points of a subscription that the caller wrote; absent = it is of the contract. */
  pricedPoints?: number;
  /** Position of an earlier stream to resume from; null = none. */
  after: string | null;
}

/** A request's context. */
export function requestContext(services: Services, caller: Caller, onEnd: (undo: () => void) => void): RequestContext {
  const { store: sharedStore, now } = services;
  const loaders: Batching['loaders'] = new Map();
  const sharedLoaders: Batching['loaders'] = new Map();
  const once: SharedWork['once'] = new Map();
  const pasts: RequestContext['pasts'] = new Map();
  const { store, ofOneCommit, asKnown } = readsOf(sharedStore, () => {
    loaders.clear();
    sharedLoaders.clear();
    once.clear();
    pasts.clear();
  });
  const taken = { once: new Map() };
  const own = { caller, nowMs: now(), loaders, once, taken, past: null, pasts, sharedLoaders, after: null, onEnd };
  return { ...services, ...own, store, sharedStore, ofOneCommit, asKnown };
}

/**
 * Batches that all instants of a request share, so that reads at a hundred take as many statements as at one. The name
 * or the keys must hold all that a read takes from the context's clock: an instant, a date, or nothing.
 */
export function ofAllInstants({ sharedLoaders, batchSchedule }: RequestContext): Batching {
  return { loaders: sharedLoaders, ...(batchSchedule && { batchSchedule }) };
}

/** Throws 503 if no source of `dataset`, or of any of the alternatives `others`, is configured. */
export function requireSource(
  { sources }: Pick<RequestContext, 'sources'>,
  dataset: Dataset,
  ...others: readonly Dataset[]
): void {
  if (![dataset, ...others].some((each) => sources[each])) throw sourceNotConfigured(dataset);
}

/** Reads from the source of `dataset`: 503 if none is configured, 502 if it fails. */
export async function fromSource<T>(
  context: Pick<RequestContext, 'sources'>,
  dataset: Dataset,
  read: () => Promise<T>,
): Promise<T> {
  requireSource(context, dataset);
  return fromStore(dataset, read);
}

/** Reads or writes data without a dataset (the registry, accounts, watchlists): 502 if the store fails. */
export async function fromStore<T>(what: string, read: () => MaybePromise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw knownFailure(cause) ?? sourceFailed(what, cause);
  }
}

/** Symbols and option roots, synchronously if they are in memory, as for all but the first requests. */
function registry({ store }: RequestContext): MaybePromise<SymbolRegistry> {
  const found = symbolRegistry(store);
  return found instanceof Promise ? fromStore('registry', () => found) : found;
}

/** The properties of option roots. */
export function rootsOf(context: RequestContext): MaybePromise<OptionRoots> {
  return whenThere(registry(context), ({ roots }) => roots);
}

/** The ticker that a contract belongs to. */
export function underlyingOf(context: RequestContext, { root }: Pick<OptionContract, 'root'>): MaybePromise<string> {
  return whenThere(rootsOf(context), (roots) => roots.of(root).underlying);
}

/** Contracts with the tickers that they belong to, in order. */
export function withUnderlyings(
  context: RequestContext,
  contracts: readonly OptionContract[],
): MaybePromise<ListedContract[]> {
  return whenThere(rootsOf(context), (roots) =>
    contracts.map((contract) => ({ underlying: roots.of(contract.root).underlying, contract })),
  );
}

/** The registry or directory entry of a ticker, or null if it is not a real ticker. */
export function findSymbol(context: RequestContext, symbol: string): MaybePromise<SymbolEntry | null> {
  return whenThere(registry(context), (symbols) => symbols.get(symbol) ?? null);
}

/** The registry entry of a ticker; 404 outside the registry. */
export function registeredSymbol(context: RequestContext, symbol: string): MaybePromise<SymbolEntry> {
  return whenThere(findSymbol(context, symbol), (entry) => {
    if (!entry?.registered) throw notFound(`Symbol ${symbol}`);
    return entry;
  });
}

/** The entry of a real ticker, registered or not; 404 for any other string. */
export function realTicker(context: RequestContext, symbol: string): MaybePromise<SymbolEntry> {
  return whenThere(findSymbol(context, symbol), (entry) => {
    if (!entry) throw notFound(`Symbol ${symbol}`);
    return entry;
  });
}
