import { restrictedData } from './entitlement.ts';
import { inner, isKnown } from './failure-codes.ts';
import type { FuzzRequest } from './request.ts';
import type { Came } from './send.ts';
import { wrongTalk } from './socket-oracle.ts';
import type { Target } from './target.ts';

/** Statuses of the contract for a source that is not configured or not reachable. */
const sourceStatuses = new Set([502, 503]);

// biome-ignore lint/suspicious/noExplicitAny: JSON as it came
type Json = any;

function asJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The errors that an answer tells of, whichever endpoint's form they have. */
function errorsIn(json: Json): { code: unknown; message: unknown }[] {
  if (Array.isArray(json)) return json.flatMap(errorsIn);
  if (json === null || typeof json !== 'object') return [];
  if (Array.isArray(json.errors))
    return json.errors.map((error: Json) => ({ code: error?.extensions?.code, message: error?.message }));
  if (json.payload) return errorsIn(json.payload);
  return json.error ? [{ code: json.error.code, message: json.error.message }] : [];
}

/** The payloads of an event stream as far as it was read; the last may be cut. */
const events = (text: string) =>
  [...text.matchAll(/^data: (.+)\n\n/gm)].map((match) => asJson(match[1]!)).filter(Boolean);

const lines = /^application\/(?:jsonl|x-ndjson)\b/;

/** The values of lines of JSON. Undefined = one of them is no JSON. */
function everyLine(text: string): Json {
  const values = text.split('\n').slice(0, -1).map(asJson);
  return values.includes(undefined) ? undefined : values;
}

/** The JSON of an answer; of one in parts, of its first part. Undefined = it has none, or it is no JSON. */
function jsonOf(type: string, text: string): Json {
  if (lines.test(type)) return everyLine(text);
  const part = /^multipart\/mixed/.test(type) ? /\r\n\r\n(.*?)\r\n--/s.exec(text)?.[1] : text;
  return /json|^multipart\/mixed/.test(type) && part !== undefined ? asJson(part) : undefined;
}

function wrongBody(request: FuzzRequest, { status, headers, text, cut }: Came): string | null {
  const type = headers['content-type'] ?? '';
  if (/event-stream/.test(type)) {
    const odd = events(text)
      .flatMap(errorsIn)
      .find((error) => !isKnown(error));
    return odd ? `${status} stream with an error of no known code: ${JSON.stringify(odd).slice(0, 300)}` : null;
  }
  if (cut) return null;
  // A browser that asks for a page that is not there gets a page.
  if (status === 404 && type.startsWith('text/html') && request.headers.accept?.includes('text/html')) return null;
  const json = jsonOf(type, text);
  if (/json/.test(type) && json === undefined) return `${status} ${type} that is no JSON: ${text.slice(0, 200)}`;
  const errors = errorsIn(json);
  if (status >= 400 && errors.length === 0) return `${status} without an error: ${text.slice(0, 300)}`;
  const odd = errors.find((error) => !isKnown(error));
  if (odd) return `${status} with an error of no known code: ${JSON.stringify(odd).slice(0, 300)}`;
  // JSON-RPC's own code for it, from MCP.
  if (errors.some(({ code }) => code === 'internal' || code === -32603))
    return `${status} with an internal error: ${text.slice(0, 300)}`;
  const leak = errors.length > 0 ? inner.exec(text.replaceAll(request.path, '')) : null;
  return leak ? `${status} tells of the inside: ${text.slice(Math.max(0, leak.index - 100), leak.index + 200)}` : null;
}

function wrongRaw({ text }: Came): string | null {
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => Number(match[1]));
  const bad = statuses.find((status) => status >= 500 && !sourceStatuses.has(status) && status !== 505);
  if (bad) return `${bad} to raw bytes: ${text.slice(0, 300)}`;
  const bodies = [...text.matchAll(/\r\n\r\n(\{"error".*?\})\s*(?=HTTP|$)/gs)].map((match) => asJson(match[1]!));
  const odd = bodies.flatMap(errorsIn).find((error) => !isKnown(error));
  return odd ? `raw bytes are answered with an error of no known code: ${JSON.stringify(odd)}` : null;
}

/** Problem of an answer by the rules that hold for all of them; null if there is none. */
export function wrongWith(target: Target, request: FuzzRequest, came: Came): string | null {
  const { status, headers, text } = came;
  if (request.bytes) return wrongRaw(came);
  if (came.talked) return wrongTalk(target, request, came.talked);
  if (status >= 500 && !sourceStatuses.has(status)) return `${status}: ${text.slice(0, 300)}`;
  if (sourceStatuses.has(status)) return `${status} though every source is there: ${text.slice(0, 300)}`;
  if (status >= 300 && status < 400 && status !== 304 && request.path.startsWith('/v2')) return `a redirect: ${status}`;
  // Headers that are too large end in the HTTP parser, before there is a request.
  if (status === 431) return null;
  if (headers['x-request-id'] === undefined) return `${status} without x-request-id`;
  const credential = request.credential === null ? undefined : target.credentials[request.credential]?.text;
  if (credential && text.includes(credential)) return `${status} repeats the credential`;
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  if (
    request.method === 'HEAD' ||
    request.socket?.handshake.startsWith('HEAD') ||
    !isPlain ||
    status === 204 ||
    status === 304
  )
    return null;
  return wrongBody(request, came) ?? restrictedData(target, request, came);
}
