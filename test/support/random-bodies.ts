import { numbered } from './hostile-variables.ts';
import type { Random } from './random.ts';

/** A body as it is sent. */
export interface SentBody {
  /** Null sends none. */
  contentType: string | null;
  bytes: Buffer;
}

/** Body form of an endpoint. */
export interface BodyForm {
  mostBytes: number;
  /** The media type that it takes. */
  mediaType: string;
  /** Bodies around a JSON value: the fuller ones get further in processing. */
  frames: readonly ((json: string) => string)[];
}

const words = ['symbols', 'it', 'note', 'body', '', 'query', 'name', 'id', 'SPY', '2026-11-19', '-1', 'é', '😀'];
const scalars = ['1', '-0', '1e400', '-1.5e-7', 'null', 'true', '""', '"SPY"', '[]', '{}', '9007199254740993'];
/** Pieces of long texts, as JSON writes them. */
const letters = ['x', 'é', '😀', '\\u00e9', '\\ud83d\\ude00', '\\ud800', '\\"', '\\n', '\\u0000', '9', ' ', ','];

/** JSON of approximately this many values and at most this many levels. */
function mixed(random: Random, values: number, levels: number): string {
  const text = () => JSON.stringify(random.pick(words).repeat(1 + random.below(random.once(20) ? 2000 : 3)));
  if (values <= 1 || levels === 0) return random.once(2) ? text() : random.pick(scalars);
  const count = 1 + random.below(Math.min(values, random.pick([2, 20, 2000])));
  const item = () => mixed(random, Math.floor(values / count), levels - 1);
  if (random.once(2)) return `[${numbered(count, item)}]`;
  return `{${numbered(count, (i) => `${random.once(3) ? text() : `"k${i}"`}:${item()}`)}}`;
}

const longText = (random: Random, bytes: number) => {
  const letter = random.pick(letters);
  return `"${letter.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(letter))))}"`;
};

/** A JSON value of each kind, of approximately this many bytes. */
const kinds: Record<string, (random: Random, bytes: number) => string> = {
  mixed: (random, bytes) => mixed(random, Math.min(12_000, Math.ceil(bytes / 8)), random.pick([1, 2, 5, 60])),
  scalar: (random) => random.pick(scalars),
  deep: (random, bytes) => {
    const most = Math.max(1, Math.floor(bytes / 6));
    const levels = random.pick([Math.min(most, 60), Math.min(most, 300), most]);
    return random.once(2) ? '['.repeat(levels) + ']'.repeat(levels) : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  },
  wide: (random, bytes) => {
    const item = random.pick(scalars);
    return `[${numbered(Math.min(11_000, Math.ceil(bytes / (item.length + 1))), () => item)}]`;
  },
  keys: (random, bytes) => {
    const name = random.pick(['k', '__proto__', 'a long name of a field that nobody knows '.repeat(2)]);
    const item = random.pick(scalars);
    const count = Math.min(11_000, Math.ceil(bytes / (name.length + item.length + 7)));
    return `{${numbered(count, (i) => `"${name}${i}":${item}`)}}`;
  },
  'a long text': longText,
  'a list of long texts': (random, bytes) =>
    `[${numbered(1 + random.below(9), () => longText(random, Math.ceil(bytes / 10)))}]`,
  'a long key': (random, bytes) => `{${longText(random, bytes)}:1}`,
  digits: (_random, bytes) => '9'.repeat(bytes),
};

/** Changes that make JSON invalid, or almost. */
const spoilers: ((random: Random, text: string) => string)[] = [
  (random, text) => text.slice(0, random.below(text.length)),
  (random, text) => {
    const at = random.below(text.length);
    return text.slice(0, at) + random.pick(['"', '\\', '}', ']', ',', ':', '\u0001', '\ufffe']) + text.slice(at + 1);
  },
  (_random, text) => `${text}${text.slice(0, 100)}`,
  (_random, text) => `\ufeff${text}`,
  (_random, text) => text.replaceAll('"', "'"),
  (random, text) => `${' \n'.repeat(random.below(20_000))}${text}`,
];

const otherTypes = [
  null,
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/xml',
  'json',
];

/** A body in a form that pages and old clients send. */
function formBody(contentType: string | null, json: string): string {
  if (contentType?.startsWith('multipart'))
    return `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${json}\r\n--x--\r\n`;
  return contentType?.endsWith('urlencoded')
    ? `query=${encodeURIComponent(json.slice(0, 50_000).toWellFormed())}`
    : json;
}

/** About how many bytes: as often few as many, and often as many as there may be. */
function randomBytes(random: Random, most: number): number {
  return random.once(5) ? most : Math.ceil(most ** (random.below(1000) / 1000));
}

/** A random JSON value, or text that nearly is one. */
export function randomJson(random: Random, mostBytes: number): string {
  const json = random.pick(Object.values(kinds))(random, randomBytes(random, mostBytes));
  return random.once(6) ? random.pick(spoilers)(random, json) : json;
}

/** A random body: JSON and nearly JSON within the frames of an endpoint, other types, bytes, and nothing at all. */
export function randomBody(random: Random, { mostBytes, mediaType, frames }: BodyForm): SentBody {
  if (random.once(40)) return { contentType: random.once(2) ? mediaType : null, bytes: Buffer.alloc(0) };
  if (random.once(40)) {
    const bytes = Buffer.from(Uint8Array.from({ length: randomBytes(random, 5000) }, () => random.below(256)));
    return { contentType: mediaType, bytes };
  }
  const frame = random.pick(frames);
  const isOver = random.once(40);
  // The frame's own bytes fit too.
  const room = isOver ? 2 * mostBytes : mostBytes - Math.min(mostBytes / 2, 1000);
  const framed = frame(randomJson(random, room));
  const text = random.once(12) ? random.pick(spoilers)(random, framed) : framed;
  const contentType = random.once(10) ? random.pick(otherTypes) : mediaType;
  const bytes = Buffer.from(formBody(contentType, text));
  return { contentType, bytes: isOver ? bytes : bytes.subarray(0, mostBytes) };
}
