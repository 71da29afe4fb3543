import type { Dependencies } from '../../runtime/dependencies.ts';
import type { Store } from '../rows/connection.ts';

/** Maximum number of symbols in a note. */
const mostNamed = 10;

const none: readonly string[] = [];

/** The simulated ones among these symbols; null stands for every symbol. Empty unless there are others. */
function simulatedAmong({ versions: { simulated } }: Pick<Store, 'versions'>, symbols: Iterable<string | null>) {
  if (simulated.size === 0) return none;
  const found = new Set<string>();
  for (const symbol of symbols) {
    if (symbol === null) return [...simulated];
    if (simulated.has(symbol)) found.add(symbol);
  }
  return [...found];
}

function* symbolsOf(dependencies: Dependencies): Generator<string | null> {
  // Nothing of the registry is simulated.
  for (const [subject, symbol] of dependencies.parts()) if (subject !== 'registry') yield symbol;
}

function textOf(symbols: readonly string[]): string | null {
  if (symbols.length === 0) return null;
  const tickers = symbols.filter((symbol) => symbol !== '*').sort();
  if (tickers.length === 0) return 'Simulated data of the sample market: lists over all symbols.';
  const named = tickers.slice(0, mostNamed).join(', ');
  const more = tickers.length > mostNamed ? ` and ${tickers.length - mostNamed} more` : '';
  return `Simulated data of the sample market: ${named}${more}.`;
}

/** The note on simulated data in an answer made from these; null = none, or all data is simulated. */
export function simulatedNote(
  store: Pick<Store, 'versions'>,
  from: Dependencies | readonly (string | null)[],
): string | null {
  if (store.versions.simulated.size === 0) return null;
  return textOf(simulatedAmong(store, Array.isArray(from) ? from : symbolsOf(from as Dependencies)));
}
