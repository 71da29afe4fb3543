// The search field's symbols: the registry is requested once, so that a search takes nothing from the budget.

import type { FoundSymbol } from '../../../../../generated/pages/operation-types.ts';
import { searchRank } from '../../../../core/domain/market/symbol-search.ts';
import type { Ask } from './graph-client.ts';
import { registryQuery, searchQuery } from './operations.ts';

/** Maximum number of suggestions for a text. */
const mostFound = 8;

/** Symbols that a text finds, the best match first, then in the order of the registry. */
export function matching(registry: readonly FoundSymbol[], text: string): FoundSymbol[] {
  const wanted = text.trim().toLowerCase();
  return registry
    .flatMap((found) => {
      const rank = searchRank(found, wanted);
      return rank === null ? [] : [{ found, rank }];
    })
    .sort((one, other) => one.rank - other.rank)
    .slice(0, mostFound)
    .map(({ found }) => found);
}

/** Rejects once a signal aborts. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** Searches the cached registry, or the server if the registry is larger than an answer. */
export class RegistrySearch {
  readonly #ask: Ask;
  // Null = larger than an answer.
  #registry: Promise<readonly FoundSymbol[] | null> | null = null;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Drops the cache, because another key may read another registry. */
  forget(): void {
    this.#registry = null;
  }

  /** Symbols that begin with a text, or whose names contain it. */
  async find(text: string, signal: AbortSignal): Promise<FoundSymbol[]> {
    const registry = await Promise.race([this.#whole(), aborted(signal)]);
    if (registry !== null) return matching(registry, text);
    const { data } = await this.#ask(searchQuery, { search: text }, signal);
    return data.symbols?.nodes ?? [];
  }

  /** Further typing aborts a search, but not the one registry request that all of them await. */
  #whole(): Promise<readonly FoundSymbol[] | null> {
    if (this.#registry) return this.#registry;
    const own = this.#ask(registryQuery, {}, new AbortController().signal).then(({ data }) =>
      data.symbols === null || data.symbols.pageInfo.hasNextPage ? null : data.symbols.nodes,
    );
    this.#registry = own;
    own.catch(() => {
      if (this.#registry === own) this.#registry = null;
    });
    return own;
  }
}
