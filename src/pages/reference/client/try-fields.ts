// The fields of a form that tries a route: one for each parameter, of the kind that its type asks for.
import { addressOf } from './address.ts';
import { element } from './element.ts';
import { suggestSymbols } from './suggest-symbols.ts';

/** A parameter's field. */
export interface Field {
  name: string;
  /** `path` or `query`. */
  place: string;
  input: HTMLInputElement | HTMLSelectElement;
}

/** The list of the latest sessions that the page holds. */
const sessionList = 'latest-sessions';

/** A choice of an enumeration; where nothing has to be sent, the first one sends nothing and says what that means. */
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

/** The fields of a route, by the rows of its table of parameters. */
export function fieldsOf(route: HTMLElement): Field[] {
  return [...route.querySelectorAll<HTMLElement>('[data-parameter]')].map(({ dataset }) => {
    const input = inputOf(dataset);
    // A path without one of its parts is another path.
    if (dataset.in === 'path') input.required = true;
    return { name: dataset.parameter!, place: dataset.in!, input };
  });
}

/** Path and query, as the fields stand: what is empty is not sent. */
export function addressAsFilled(path: string, fields: readonly Field[]): string {
  const filled = fields.filter(({ place, input }) => place === 'path' || input.value !== '');
  const params = Object.fromEntries(filled.map(({ name, input }) => [name, input.value]));
  const inQuery = filled.filter(({ place }) => place === 'query').map(({ name }) => name);
  return addressOf(path, inQuery, params);
}
