import { type OptionContract, readOptionContract } from './option-contract.ts';
import { optionRoot } from './option-root.ts';

/** An option contract as the tape engine knows it: one object a contract, with small numbers to index arrays by. */
export interface TradedContract {
  /** 0, 1, 2, … in the order in which the book met contracts. Says nothing beyond the process. */
  index: number;
  /** `O:` and the OSI symbol. */
  id: string;
  contract: OptionContract;
  underlying: TradedUnderlying;
  /** Shares per contract. */
  multiplier: number;
}

/** The ticker a contract belongs to. */
export interface TradedUnderlying {
  index: number;
  symbol: string;
}

/** What the contract reference knows of a root. */
export interface RootTerms {
  underlying: string;
  multiplier: number;
}

/** Contracts met on a tape, each once. */
export interface ContractBook {
  /** The contract an OSI symbol names, with or without `O:`; null when it has not that form. */
  find(text: string): TradedContract | null;
  underlyings(): readonly TradedUnderlying[];
}

/**
 * An empty book, for one tape: what a tape keeps by contract is as long as its book. `rootTerms` is asked once a root;
 * without it the root has its standard properties.
 */
export function createContractBook(rootTerms: (root: string) => RootTerms = optionRoot): ContractBook {
  const contracts = new Map<string, TradedContract | null>();
  const underlyings = new Map<string, TradedUnderlying>();
  const roots = new Map<string, RootTerms>();
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
    const known = id === text ? undefined : contracts.get(id);
    if (known) return known;
    let terms = roots.get(contract.root);
    if (!terms) {
      terms = rootTerms(contract.root);
      roots.set(contract.root, terms);
    }
    const { multiplier } = terms;
    const traded = { index: count++, id, contract, underlying: underlyingOf(terms.underlying), multiplier };
    contracts.set(id, traded);
    return traded;
  }

  return {
    find(text) {
      const known = contracts.get(text);
      if (known) return known;
      const added = add(text);
      // Other spellings are remembered too, wrong ones not: they have no bound.
      if (added) contracts.set(text, added);
      return added;
    },
    underlyings: () => [...underlyings.values()],
  };
}
