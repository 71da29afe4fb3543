// Suggests symbols of the registry during typing.
import { askGraph } from '../../client/ask-graph.ts';
import { readKey } from '../../client/stored-key.ts';
import { element } from './element.ts';

const restMs = 250;

interface Suggested {
  symbols: { nodes: { symbol: string; name: string | null }[] } | null;
}

const known = new Map<string, Promise<Suggested | null>>();

function look(search: string): Promise<Suggested | null> {
  const asked =
    known.get(search) ??
    askGraph<Suggested>('suggestSymbols', { search }).then(
      ({ data }) => data,
      () => null,
    );
  known.set(search, asked);
  return asked;
}

let lists = 0;

/** Adds suggestions to a field, if there is a key to look them up with. In a list of symbols it completes the last. */
export function suggestSymbols(input: HTMLInputElement): void {
  const list = element('datalist', { id: `symbols-${++lists}` });
  input.setAttribute('list', list.id);
  input.autocapitalize = 'characters';
  let timer: number | undefined;
  const suggest = async () => {
    const text = input.value;
    const before = text.slice(0, text.lastIndexOf(',') + 1);
    const search = text.slice(before.length).trim();
    if (search === '' || readKey() === '') return;
    const nodes = (await look(search))?.symbols?.nodes ?? [];
    if (input.value !== text) return;
    list.replaceChildren(
      ...nodes.map(({ symbol, name }) => element('option', { value: before + symbol, textContent: name ?? '' })),
    );
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(suggest, restMs);
    if (!list.isConnected) input.after(list);
  });
}
