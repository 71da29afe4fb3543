import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { SymbolClass } from '../../../core/domain/market/symbol.ts';
import { saveUnknownTickers } from '../../../store/market/symbols.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';

/**
 * Adds unknown underlyings of option data to the ticker directory. One with a root of European exercise is an index
 * product: shares and funds have none.
 */
export async function saveUnderlyings(tx: Transaction, roots: Iterable<string>, known: OptionRoots): Promise<void> {
  const classes = new Map<string, SymbolClass>();
  for (const root of roots) {
    const { underlying, style } = known.of(root);
    if (style === 'european' || !classes.has(underlying)) {
      classes.set(underlying, style === 'european' ? 'index' : 'equity');
    }
  }
  await saveUnknownTickers(tx, classes.keys(), (ticker) => classes.get(ticker)!);
}
