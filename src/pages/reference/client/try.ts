// Asks a route of this server under the reader's key, and shows what it answers.
import { keyHeaders, readKey } from '../../client/key.ts';

/** Longer answers are cut in the page; nobody reads them there. */
const shownCharacters = 20_000;

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

interface Field {
  name: string;
  place: string;
  input: HTMLInputElement;
}

function fieldsOf(route: HTMLElement): Field[] {
  return [...route.querySelectorAll<HTMLElement>('[data-parameter]')].map(({ dataset }) => ({
    name: dataset.parameter!,
    place: dataset.in!,
    input: element('input', { value: dataset.example!, spellcheck: false, autocomplete: 'off' }),
  }));
}

function addressOf(path: string, fields: readonly Field[]): string {
  const value = (name: string) => encodeURIComponent(fields.find((field) => field.name === name)?.input.value ?? '');
  const query = new URLSearchParams(
    fields
      .filter(({ place, input }) => place === 'query' && input.value !== '')
      .map(({ name, input }) => [name, input.value]),
  );
  const filled = path.replace(/:(\w+)/g, (_, name: string) => value(name));
  return query.size > 0 ? `${filled}?${query}` : filled;
}

function readable(text: string): string {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: as it came.
  }
  if (shown.length <= shownCharacters) return shown;
  return `${shown.slice(0, shownCharacters)}\n… ${shown.length - shownCharacters} more characters`;
}

interface Asked {
  method: string;
  address: string;
  body: string | null;
  contentType: string;
}

async function ask({ method, address, body, contentType }: Asked, said: HTMLElement, answer: HTMLElement) {
  said.textContent = 'Asking…';
  const started = performance.now();
  try {
    const response = await fetch(address, {
      method,
      headers: {
        accept: 'application/json',
        ...keyHeaders(),
        ...(body === null ? {} : { 'content-type': contentType }),
      },
      body,
    });
    const text = await response.text();
    const took = Math.round(performance.now() - started);
    said.textContent = `${response.status} ${response.statusText}, ${text.length} characters in ${took} ms`;
    answer.textContent = readable(text);
    answer.hidden = false;
  } catch (error) {
    said.textContent = `The server could not be asked: ${(error as Error).message}`;
  }
}

function formOf(route: HTMLElement): HTMLElement {
  const { method = 'GET', path = '', body, contentType = 'application/json' } = route.dataset;
  const fields = fieldsOf(route);
  const sent = body === undefined ? null : element('textarea', { value: body, spellcheck: false, ariaLabel: 'Body' });
  const address = element('code', {});
  const said = element('span', { className: 'muted', role: 'status' });
  const answer = element('pre', { hidden: true, tabIndex: 0 });
  const form = element(
    'form',
    { className: 'panel', autocomplete: 'off' },
    ...fields.map(({ name, input }) => element('label', {}, name, input)),
    ...(sent ? [sent] : []),
    element('p', { className: 'asked' }, address),
    element('div', { className: 'row' }, element('button', { className: 'primary', textContent: 'Send' }), said),
    answer,
  );
  const show = () => {
    address.textContent = `${method} ${addressOf(path, fields)}`;
  };
  form.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (readKey() === '') {
      said.textContent = 'Give a key first, at the top of the page.';
      document.querySelector<HTMLInputElement>('#key-input')?.focus();
      return;
    }
    void ask({ method, address: addressOf(path, fields), body: sent?.value ?? null, contentType }, said, answer);
  });
  show();
  return form;
}

/** Lets routes be tried: the form is made when it is first asked for. */
export function letTry(): void {
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>('button[data-try]');
    if (!button) return;
    const route = button.closest<HTMLElement>('.route')!;
    const form = formOf(route);
    button.replaceWith(form);
    form.querySelector<HTMLElement>('input, textarea, button')!.focus();
  });
}
