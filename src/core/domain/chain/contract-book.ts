import { tradeSpan } from '../calendar.ts';
import type { SessionDate } from '../market-time.ts';
import { type OptionContract, readOptionContract } from './option-contract.ts';
import { lastSession, type OptionRoot, type OptionRoots, standardRoots } from './option-root.ts';

/** An option contract in the tape engine: one object per contract, with a small number as array index. */
export interface TradedContract {
  /** 0, 1, 2, … in the order in which the book first saw contracts. Valid only within the process. */
  index: number;
  /** `O:` and the OSI symbol. */
  id: string;
  contract: OptionContract;
  underlying: TradedUnderlying;
  /** Shares per contract. */
  multiplier: number;
  /** End of the contract's last session, epoch ms: it has no later prints or quotes. */
  endMs: number;
}

/** The ticker of a contract. */
export interface TradedUnderlying {
  index: number;
  symbol: string;
}

/** A function that gives the end of an expiry's last session, epoch ms. */
export function sessionEnds(): (expiry: SessionDate) => number {
  const known = new Map<SessionDate, number>();
  return (expiry) => {
    let endMs = known.get(expiry);
    if (endMs === undefined) {
      endMs = tradeSpan(lastSession(expiry)).toMs;
      known.set(expiry, endMs);
    }
    return endMs;
  };
}

/** Contracts of a tape, each once. */
export interface ContractBook {
  /** The contract of an OSI symbol, with or without `O:`; null for any other text. */
  find(text: string): TradedContract | null;
  underlyings(): readonly TradedUnderlying[];
  /** Properties of the book's roots. */
  readonly roots: OptionRoots;
}

/**
 * Creates an empty book, for one tape: arrays by contract are as long as its book. `known` is read once per root; by
 * default roots have the properties of the built-in list.
 */
export function createContractBook(known: OptionRoots = standardRoots): ContractBook {
  const contracts = new Map<string, TradedContract | null>();
  const underlyings = new Map<string, TradedUnderlying>();
  const roots = new Map<string, OptionRoot>();
  const endOf = sessionEnds();
  let count = 0;

  function underlyingOf(symbol: string): TradedUnderlying {
    let underlying = underlyings.get(symbol);
    if (!underlying) {
      underlying = { index: underlyings.size, symbol };
      underlyings.set(symbol, underlying);
    }
    return underlying;
  }

  function add(text: string): TradedContract | null {
    const contract = readOptionContract(text);
    if (!contract) return null;
    const id = `O:${text.replace(/^O:/, '').replace(/ +/, '')}`;
    const respelled = id === text ? undefined : contracts.get(id);
    if (respelled) return respelled;
    let terms = roots.get(contract.root);
    if (!terms) {
      terms = known.of(contract.root);
      roots.set(contract.root, terms);
    }
    const { multiplier } = terms;
    const underlying = underlyingOf(terms.underlying);
    const traded = { index: count++, id, contract, underlying, multiplier, endMs: endOf(contract.expiry) };
    contracts.set(id, traded);
    return traded;
  }

  return {
    find(text) {
      const found = contracts.get(text);
      if (found) return found;
      const added = add(text);
      // Other spellings are cached too, but not invalid ones, whose number is unlimited.
      if (added) contracts.set(text, added);
      return added;
    },
    underlyings: () => [...underlyings.values()],
    roots: known,
  };
}
