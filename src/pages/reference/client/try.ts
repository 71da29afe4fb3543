// Adds forms that try routes: the parameters, the equivalent curl command, and the answer.

import { askGraph } from '../../client/ask-graph.ts';
import { copyText } from '../../client/copy.ts';
import { keyHeaders, onKeyChange, readKey } from '../../client/stored-key.ts';
import { addressOf, curlCommand } from './curl.ts';
import { element } from './element.ts';

const extensions: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/vnd.apache.arrow.stream': 'arrow',
  'application/vnd.apache.parquet': 'parquet',
  'application/jsonl': 'jsonl',
  'application/x-protobuf': 'pb',
};

/** A masked key: its beginning, to recognize it. */
const masked = (key: string) => `${key.slice(0, 8)}…`;

/** Select of the answer's media type; null if there is no choice. */
function mediaField({ media = '' }: DOMStringMap): HTMLSelectElement | null {
  const all = media.split(' ');
  if (all.length < 2) return null;
  return element('select', {}, ...all.map((value) => element('option', { value, textContent: value })));
}

/** Note on further requirements besides a key; null = none. */
function sessionNote({ needs = '' }: DOMStringMap): HTMLElement | null {
  if (!needs.endsWith('site-session')) return null;
  const declared = needs.startsWith('declared') ? ' of an account with the non-professional declaration' : '';
  const text = `This route requires a site session${declared}; an API key returns 403. Enter a session token instead of a key in the field at the top. `;
  return element('p', { className: 'note' }, text, element('a', { href: '/docs/key#session' }, 'Getting a session'));
}

/** A field with its label. */
function labelled(route: HTMLElement, name: string, input: HTMLElement): HTMLElement {
  input.id = `${route.id}-try-${name}`;
  return element('div', { className: 'field' }, element('label', { htmlFor: input.id }, name), input);
}

/**
 * The curl command, with a button that copies it completely. `command` builds it with a credential, or with a
 * placeholder.
 */
function commandPart(command: (credential: string | null) => string) {
  const code = element('code', {});
  const copy = element('button', { type: 'button', className: 'quiet', textContent: 'Copy' });
  const head = element('div', { className: 'over-code' }, element('span', { className: 'muted' }, 'curl'), copy);
  const show = () => {
    const key = readKey();
    code.textContent = command(key === '' ? null : masked(key));
  };
  copy.addEventListener('click', () => void copyText(copy, code, command(readKey() || null)));
  return { parts: [head, element('pre', { className: 'command', tabIndex: 0 }, code)], show };
}

function formOf(route: HTMLElement): HTMLElement {
  const { method = 'GET', path = '', body, contentType = 'application/json' } = route.dataset;
  const fields = fieldsOf(route);
  const media = mediaField(route.dataset);
  const sent = body === undefined ? null : element('textarea', { value: body, spellcheck: false, ariaLabel: 'Body' });
  const request = () => {
    const accept = media?.value ?? null;
    const file = `${route.id}.${extensions[accept ?? ''] ?? 'json'}`;
    const common = { method, body: sent?.value ?? null, contentType, file };
    return { ...common, accept: accept === 'application/json' ? null : accept, address: addressAsFilled(path, fields) };
  };
  const command = commandPart((credential) => {
    const { address, file, accept, ...rest } = request();
    const output = accept === null || accept.startsWith('text/') ? null : file;
    return curlCommand({ ...rest, accept, credential, output, url: location.origin + address });
  });
  const said = element('span', { className: 'muted', role: 'status' });
  const shown = element('div', { className: 'tried' });
  const note = sessionNote(route.dataset);
  const form = element(
    'form',
    { className: 'panel', autocomplete: 'off' },
    ...(note ? [note] : []),
    ...fields.map(({ name, input }) => labelled(route, name, input)),
    ...(media ? [labelled(route, 'Accept', media)] : []),
    ...(sent ? [sent] : []),
    ...command.parts,
    element('div', { className: 'row' }, element('button', { className: 'primary', textContent: 'Send' }), said),
    shown,
  );
  form.addEventListener('input', command.show);
  onKeyChange(command.show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (readKey() === '') {
      said.textContent = 'Enter a key first, at the top of the page.';
      document.querySelector<HTMLInputElement>('#key-input')?.focus();
      return;
    }
    void tryRequest(request(), { said, shown });
  });
  command.show();
  return form;
}

/** Adds the forms: each is created when it is first opened. */
export function letTry(): void {
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>('button[data-try]');
    if (!button) return;
    const form = formOf(button.closest<HTMLElement>('.route')!);
    button.replaceWith(form);
    form.querySelector<HTMLElement>('input, select, textarea, button')!.focus();
  });
}

// The fields of a form that tries a route: one per parameter, of the kind for its type.

/** A parameter's field. */
interface Field {
  name: string;
  /** `path` or `query`. */
  place: string;
  input: HTMLInputElement | HTMLSelectElement;
}

/** Id of the page's list of the latest sessions. */
const sessionList = 'latest-sessions';

/** A select of an enumeration; for an optional parameter the first option sends nothing and names the default. */
function choice({ example = '', values = '', default: usual, required }: DOMStringMap): HTMLSelectElement {
  const none = element('option', { value: '', textContent: usual === undefined ? '(not sent)' : `${usual} (default)` });
  const options = values.split(' ').map((value) => element('option', { value, textContent: value }));
  const select = element('select', {}, ...(required === undefined ? [none] : []), ...options);
  select.value = example;
  return select;
}

function sessionField(example: string): HTMLInputElement {
  const input = element('input', { type: 'date', value: example });
  const latest = document.querySelector<HTMLOptionElement>(`#${sessionList} option`);
  input.setAttribute('list', sessionList);
  if (latest) input.max = latest.value;
  return input;
}

function inputOf(data: DOMStringMap): Field['input'] {
  const { example = '', kind, values, default: usual } = data;
  if (values !== undefined) return choice(data);
  if (kind === 'session') return sessionField(example);
  if (kind === 'date') return element('input', { type: 'date', value: example });
  const placeholder = usual === undefined ? '' : `${usual} (default)`;
  const input = element('input', { value: example, placeholder, spellcheck: false, autocomplete: 'off' });
  if (kind === 'number') input.inputMode = 'decimal';
  if (kind === 'symbol' || kind === 'symbols') suggestSymbols(input);
  return input;
}

/** The fields of a route, from the rows of its parameter table. */
function fieldsOf(route: HTMLElement): Field[] {
  return [...route.querySelectorAll<HTMLElement>('[data-parameter]')].map(({ dataset }) => {
    const input = inputOf(dataset);
    // A path without one of its parts is another path.
    if (dataset.in === 'path') input.required = true;
    return { name: dataset.parameter!, place: dataset.in!, input };
  });
}

/** Path and query from the fields: empty ones are not sent. */
function addressAsFilled(path: string, fields: readonly Field[]): string {
  const filled = fields.filter(({ place, input }) => place === 'path' || input.value !== '');
  const params = Object.fromEntries(filled.map(({ name, input }) => [name, input.value]));
  const inQuery = filled.filter(({ place }) => place === 'query').map(({ name }) => name);
  return addressOf(path, inQuery, params);
}

// Sends a request with the reader's key, and shows status, headers, time and body of the answer.

/** Longer answers are cut in the page. */
const shownCharacters = 20_000;

/** Headers to show if an answer has them. */
const shownHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-consumed',
  'retry-after',
  'content-type',
  'cache-control',
  'etag',
  'link',
  'deprecation',
  'sunset',
  'x-request-id',
];

/** A request to try. */
interface Tried {
  method: string;
  address: string;
  /** The requested media type; null = the default. */
  accept: string | null;
  body: string | null;
  contentType: string | null;
  /** File name for saving the answer. */
  file: string;
}

/** Elements that show an answer. */
interface AnswerParts {
  said: HTMLElement;
  shown: HTMLElement;
}

function readable(text: string): string {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: shown unchanged.
  }
  if (shown.length <= shownCharacters) return shown;
  return `${shown.slice(0, shownCharacters)}\n… ${shown.length - shownCharacters} more characters`;
}

function headerList({ headers }: Response): HTMLElement {
  const rows = shownHeaders.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [element('dt', {}, name), element('dd', {}, value)];
  });
  return element('dl', { className: 'facts headers' }, ...rows);
}

let saved = '';

/** A link that saves the answer; the former one is released. */
function saveLink(bytes: ArrayBuffer, type: string, file: string): HTMLElement {
  URL.revokeObjectURL(saved);
  saved = URL.createObjectURL(new Blob([bytes], { type }));
  return element('a', { href: saved, download: file, textContent: `Save as ${file}` });
}

function bodyText(bytes: ArrayBuffer, type: string): string {
  if (/json|text/.test(type)) return readable(new TextDecoder().decode(bytes));
  return `${bytes.byteLength.toLocaleString('en-US')} bytes of ${type}, which is no text.`;
}

/** Sends the request, and shows the answer. */
async function tryRequest(tried: Tried, { said, shown }: AnswerParts): Promise<void> {
  const { method, address, accept, body, contentType, file } = tried;
  said.textContent = 'Asking…';
  const started = performance.now();
  try {
    const response = await fetch(address, {
      method,
      headers: {
        accept: accept ?? 'application/json',
        ...keyHeaders(),
        ...(body === null ? {} : { 'content-type': contentType! }),
      },
      body,
    });
    const bytes = await response.arrayBuffer();
    const took = Math.round(performance.now() - started);
    const type = response.headers.get('content-type') ?? '';
    const length = bytes.byteLength.toLocaleString('en-US');
    said.textContent = `${response.status} ${response.statusText} in ${took} ms, ${length} bytes`;
    shown.replaceChildren(
      headerList(response),
      element('pre', { tabIndex: 0, textContent: bodyText(bytes, type) }),
      ...(response.ok ? [saveLink(bytes, type, file)] : []),
    );
  } catch (error) {
    said.textContent = `The request could not be sent: ${(error as Error).message}`;
    shown.replaceChildren();
  }
}

// Suggests symbols of the registry during typing.

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
function suggestSymbols(input: HTMLInputElement): void {
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
