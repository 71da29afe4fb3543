// The search field's symbols: the registry is asked for once, so that a search takes nothing of the budget.

import type { FoundSymbol } from '../../../../../generated/pages/operation-types.ts';
import type { Ask } from './graph-client.ts';
import { registryQuery, searchQuery } from './operations.ts';

/** Most suggestions for a text. */
const mostFound = 8;

/** Where a symbol is listed: the ticker that was typed, then those that begin with it, then names that hold it. */
function rankOf(symbol: string, wanted: string): number {
  const ticker = symbol.toLowerCase();
  return ticker === wanted ? 0 : ticker.startsWith(wanted) ? 1 : 2;
}

/** Symbols that begin with a text, or whose names hold it, the best match first, then in the order of the registry. */
export function matching(registry: readonly FoundSymbol[], text: string): FoundSymbol[] {
  const wanted = text.trim().toLowerCase();
  return registry
    .filter(
      ({ symbol, name }) => symbol.toLowerCase().startsWith(wanted) || (name?.toLowerCase().includes(wanted) ?? false),
    )
    .sort((one, other) => rankOf(one.symbol, wanted) - rankOf(other.symbol, wanted))
    .slice(0, mostFound);
}

/** Rejects once a signal aborts. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** Searches the registry: what is held of it, or the server where it is larger than an answer. */
export class RegistrySearch {
  readonly #ask: Ask;
  // Null = it is larger than an answer.
  #registry: Promise<readonly FoundSymbol[] | null> | null = null;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Another key may read another registry. */
  forget(): void {
    this.#registry = null;
  }

  /** Symbols that begin with a text, or whose names hold it. */
  async find(text: string, signal: AbortSignal): Promise<FoundSymbol[]> {
    const registry = await Promise.race([this.#whole(), aborted(signal)]);
    if (registry !== null) return matching(registry, text);
    const { data } = await this.#ask(searchQuery, { search: text }, signal);
    return data.symbols?.nodes ?? [];
  }

  /** Typing on ends a search, but not the one question that all of them wait for. */
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
