// Sends a request with the reader's key, and shows status, headers, time and body of the answer.
import { keyHeaders } from '../../client/stored-key.ts';
import { element } from './element.ts';

/** Longer answers are cut in the page. */
const shownCharacters = 20_000;

/** Headers to show if an answer has them. */
const shownHeaders = [
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-consumed', 'retry-after'],
  ...['content-type', 'cache-control', 'etag', 'link', 'deprecation', 'sunset', 'x-request-id'],
];

/** A request to try. */
export interface Tried {
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
export interface AnswerParts {
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
export async function tryRequest(tried: Tried, { said, shown }: AnswerParts): Promise<void> {
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
