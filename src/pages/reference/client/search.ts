// The search: `/` opens it, arrows move through the results, Enter opens the first, Escape closes it.
import MiniSearch, { type Options, type SearchResult } from 'minisearch';

/** Maximum number of results; a longer text narrows them. */
const mostShown = 30;
const shownCharacters = 140;

interface Parts {
  dialog: HTMLDialogElement;
  input: HTMLInputElement;
  list: HTMLElement;
  said: HTMLElement;
}

async function load({ dialog }: Parts): Promise<Search> {
  const response = await fetch(dialog.dataset.index!);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return searchOf(await response.json());
}

function item({ kind, title, place, href, text }: Found): HTMLLIElement {
  const link = document.createElement('a');
  link.href = href;
  for (const [className, content] of [
    ['search-kind', kind],
    ['search-title', title],
    ['search-place', place],
    ['search-text', text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text],
  ] as const) {
    const part = document.createElement('span');
    part.className = className;
    part.textContent = content;
    link.append(part, ' ');
  }
  const made = document.createElement('li');
  made.append(link);
  return made;
}

/** Shows the results for the text in the field. Returns the first link. */
async function show({ input, list, said }: Parts, search: () => Promise<Search>): Promise<HTMLAnchorElement | null> {
  try {
    const find = await search();
    // Text typed in the meantime counts.
    const text = input.value.trim();
    const found = text === '' ? [] : find(text);
    list.replaceChildren(...found.slice(0, mostShown).map(item));
    list.scrollTop = 0;
    const more = found.length > mostShown ? `, the first ${mostShown} are shown` : '';
    const counted = found.length === 0 ? `Nothing found for “${text}”.` : `${found.length} found${more}.`;
    said.textContent = text === '' ? '' : counted;
  } catch (error) {
    said.textContent = `The search could not be loaded: ${(error as Error).message}`;
  }
  return list.querySelector('a');
}

function walk(event: KeyboardEvent, { input, list }: Parts): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const stops: HTMLElement[] = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  if (step !== 0) {
    event.preventDefault();
    stops[Math.max(0, Math.min(stops.length - 1, at + step))]!.focus();
  } else if (at > 0 && event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey) {
    // Typing on a result continues the text.
    input.focus();
  }
}

function partsOf(): Parts | null {
  const dialog = document.querySelector<HTMLDialogElement>('#search');
  const input = document.querySelector<HTMLInputElement>('#search-input');
  const list = document.querySelector<HTMLElement>('#search-found');
  const said = document.querySelector<HTMLElement>('#search-said');
  return dialog && input && list && said ? { dialog, input, list, said } : null;
}

/** Adds the search to a page below `/docs`. The index loads when the search is first opened. */
export function letSearch(): void {
  const parts = partsOf();
  if (!parts) return;
  const { dialog, input, list } = parts;
  let loading: Promise<Search> | null = null;
  const search = () => {
    loading ??= load(parts).catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  const open = () => {
    if (!dialog.open) dialog.showModal();
    input.focus();
    input.select();
    void show(parts, search);
  };
  document.querySelector('#search-open')?.addEventListener('click', open);
  document.querySelector('#search-close')?.addEventListener('click', () => dialog.close());
  input.addEventListener('input', () => void show(parts, search));
  input.form!.addEventListener('submit', (event) => {
    event.preventDefault();
    void show(parts, search).then((first) => first?.click());
  });
  list.addEventListener('click', (event) => {
    if ((event.target as Element).closest('a')) dialog.close();
  });
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return walk(event, parts);
    // A search field handles the first Escape itself.
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener('click', (event) => {
    // A click outside the content closes it: the content covers the whole dialog.
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.key !== '/' || event.ctrlKey || event.metaKey || target.closest('input, textarea, select')) return;
    event.preventDefault();
    open();
  });
}

// Search in the index: the query, and the ranking of its documents.

/** A document as stored in the index. */
interface Found extends SearchResult {
  kind: string;
  title: string;
  place: string;
  href: string;
  text: string;
}

/** Names of routes and guides rank above parameters, which many routes share. */
const ranks: Readonly<Record<string, number>> = { Guide: 2, Route: 2, 'Stream topic': 1.5, Parameter: 0.7 };

/** Finds documents by a text, the best first. */
export type Search = (text: string) => Found[];

/** The search in an index with the content of `search.json`. */
export function searchOf({ options, index }: { options: Options; index: never }): Search {
  const loaded = MiniSearch.loadJS(index, options);
  const look = (text: string, combineWith: 'AND' | 'OR') =>
    loaded.search(text, {
      combineWith,
      prefix: true,
      fuzzy: (term) => (term.length > 3 ? 0.2 : false),
      boost: { title: 4, alsoCalled: 4, place: 2, fields: 0.5 },
      boostDocument: (_id, _term, stored) => ranks[String(stored?.kind)] ?? 1,
    }) as Found[];
  return (text) => {
    const all = look(text, 'AND');
    return all.length > 0 ? all : look(text, 'OR');
  };
}
