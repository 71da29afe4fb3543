// The fields of a form that tries a route: one per parameter, of the kind for its type.

import { element } from './element.ts';
import { addressOf } from './request-address.ts';
import { suggestSymbols } from './suggest-symbols.ts';

/** A parameter's field. */
export interface Field {
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
export function fieldsOf(route: HTMLElement): Field[] {
  return [...route.querySelectorAll<HTMLElement>('[data-parameter]')].map(({ dataset }) => {
    const input = inputOf(dataset);
    // A path without one of its parts is another path.
    if (dataset.in === 'path') input.required = true;
    return { name: dataset.parameter!, place: dataset.in!, input };
  });
}

/** Path and query from the fields: empty ones are not sent. */
export function addressAsFilled(path: string, fields: readonly Field[]): string {
  const filled = fields.filter(({ place, input }) => place === 'path' || input.value !== '');
  const params = Object.fromEntries(filled.map(({ name, input }) => [name, input.value]));
  const inQuery = filled.filter(({ place }) => place === 'query').map(({ name }) => name);
  return addressOf(path, inQuery, params);
}
