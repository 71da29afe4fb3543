// Adds forms that try routes: the parameters, the equivalent curl command, and the answer.
import { copyText } from '../../client/copy.ts';
import { onKeyChange, readKey } from '../../client/stored-key.ts';
import { curlCommand } from './curl.ts';
import { element } from './element.ts';
import { tryRequest } from './try-answer.ts';
import { addressAsFilled, fieldsOf } from './try-fields.ts';

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
