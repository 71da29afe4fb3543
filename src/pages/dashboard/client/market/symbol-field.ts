// The field that opens another symbol: the typed text is searched in the registry.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { tickerOf } from '../view-address.ts';

const restMs = 180;
const searchWithinMs = 3000;

interface Found {
  symbol: string;
  name: string | null;
}

/** The search result for a text, once the typing rests; `text` = the searched text. */
function useFound(controller: DashboardController, text: string): { text: string; found: Found[] } {
  const [found, setFound] = useState<{ text: string; found: Found[] }>({ text: '', found: [] });
  useEffect(() => {
    if (text.trim() === '') {
      setFound({ text, found: [] });
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      controller.search(text.trim(), stop.signal).then(
        (rows) => setFound({ text, found: rows }),
        () => {},
      );
    }, restMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  return found;
}

/** The symbol for Enter: the typed ticker if it exists, else the first suggestion, else the typed text. */
export function symbolEntered(text: string, found: readonly Found[]): string | null {
  const typed = tickerOf(text);
  return found.find(({ symbol }) => symbol === typed)?.symbol ?? found[0]?.symbol ?? typed;
}

const searched = (controller: DashboardController, text: string): Promise<Found[]> =>
  controller.search(text.trim(), AbortSignal.timeout(searchWithinMs)).catch(() => []);

interface SuggestionsProps {
  found: readonly Found[];
  isShown: boolean;
  /** Index of the selected row; -1 = none. */
  marked: number;
  onChoose: (symbol: string) => void;
}

function Suggestions({ found, isShown, marked, onChoose }: SuggestionsProps): VNode {
  return html`<ul id="symbol-found" role="listbox" aria-label="Symbols found" hidden=${!isShown}>
    ${found.map(
      ({ symbol, name }, index) => html`<li id=${`symbol-found-${index}`} role="option"
      aria-selected=${index === marked} onMouseDown=${(event: Event) => event.preventDefault()}
      onClick=${() => onChoose(symbol)}><b>${symbol}</b><span>${name}</span></li>`,
    )}
  </ul>` as VNode;
}

/** A combobox. Enter opens the selected row, else the first suggestion. */
export function SymbolField({ controller }: { controller: DashboardController }): VNode {
  const [text, setText] = useState('');
  const [marked, setMarked] = useState(-1);
  const [open, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const { text: lookedFor, found } = useFound(controller, text);
  const shown = open && found.length > 0;
  const go = (symbol: string) => {
    setText('');
    setOpen(false);
    input.current?.blur();
    controller.show({ symbol });
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      setText('');
      setOpen(false);
      input.current?.blur();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setOpen(true);
      setMarked((at) => Math.min(Math.max(at + step, -1), found.length - 1));
    }
  };
  const enter = async () => {
    const chosen = shown ? found[marked]?.symbol : undefined;
    if (chosen) return go(chosen);
    // Enter may be pressed before the suggestions arrive.
    const symbol = symbolEntered(text, lookedFor === text ? found : await searched(controller, text));
    if (symbol !== null) go(symbol);
  };
  return html`<form class="symbol-field" role="search" onSubmit=${(event: Event) => {
    event.preventDefault();
    if (text.trim() !== '') void enter();
  }}>
    <label class="visually-hidden" for="symbol-input">Symbol</label>
    <input id="symbol-input" ref=${input} value=${text} placeholder="Symbol" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40"
      role="combobox" aria-expanded=${shown} aria-controls="symbol-found" aria-autocomplete="list" aria-keyshortcuts="/"
      aria-activedescendant=${shown && marked >= 0 ? `symbol-found-${marked}` : null}
      onKeyDown=${keys} onBlur=${() => setTimeout(() => setOpen(false), 150)} onFocus=${() => setOpen(true)}
      onInput=${(event: Event) => {
        setText((event.target as HTMLInputElement).value);
        setMarked(-1);
        setOpen(true);
      }} />
    <kbd aria-hidden="true">/</kbd>
    <${Suggestions} found=${found} isShown=${shown} marked=${marked} onChoose=${go} />
  </form>` as VNode;
}
