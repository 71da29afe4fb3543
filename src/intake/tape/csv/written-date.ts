import { dateOfEpochDay, epochDay, exchangeInstant, isDate } from '../../../core/domain/market-time.ts';
import { dayMs, hourMs, minuteMs } from '../../../platform/runtime/clock.ts';
import wordsByLocale from './written-date-words.json' with { type: 'json' };

/** Every combination of one alternative for each part. */
function choices(parts: readonly (readonly Piece[])[]): Piece[][] {
  return parts.reduce<Piece[][]>(
    (chosen, alternatives) => chosen.flatMap((some) => alternatives.map((piece) => [...some, piece])),
    [[]],
  );
}

function dayOf(said: ReadonlyMap<Piece['kind'], Piece>): number | null {
  const [date, year, month, day] = (['date', 'year', 'month', 'day'] as const).map((kind) => said.get(kind)?.value);
  const parts = [year, month, day];
  if (date !== undefined) return parts.every((part) => part === undefined) ? date : null;
  if (parts.includes(undefined)) return null;
  const written = parts.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0')).join('-');
  return isDate(written) ? epochDay(written) : null;
}

/** Milliseconds since midnight; null without a time, or with one that does not exist in the half of the day. */
function timeOf(pieces: readonly Piece[]): number | null {
  const at = pieces.findIndex(({ kind }) => kind === 'time');
  const halfAt = pieces.findIndex(({ kind }) => kind === 'half');
  if (at < 0) return null;
  const time = pieces[at]!.value;
  if (halfAt < 0) return time;
  // 12:31 and 0:31 are half an hour into either half.
  return Math.abs(halfAt - at) === 1 && time < 13 * hourMs ? (time % (12 * hourMs)) + pieces[halfAt]!.value : null;
}

/** The instant of these pieces; null unless they are one date, one time and at most one zone. */
function instantOf(pieces: readonly Piece[]): number | null {
  const all = pieces.filter(({ kind }) => kind !== 'link');
  const said = new Map(all.map((piece) => [piece.kind, piece]));
  const day = dayOf(said);
  const time = timeOf(all);
  if (said.size < all.length || day === null || time === null) return null;
  const weekday = said.get('weekday')?.value;
  // 1970 began on a Thursday.
  if (weekday !== undefined && (((day + 4) % 7) + 7) % 7 !== weekday) return null;
  const offset = said.get('zone')?.value ?? Number.NaN;
  if (!Number.isNaN(offset)) return day * dayMs + time - offset;
  return exchangeInstant(dateOfEpochDay(day), Math.floor(time / minuteMs)) + (time % minuteMs);
}

/** True if one locale prints all of these. */
function isOfOneLocale(pieces: readonly Piece[]): boolean {
  const [first, ...others] = pieces.flatMap(({ locales }) => (locales === null ? [] : [locales]));
  return first === undefined || [...first].some((locale) => others.every((locales) => locales.has(locale)));
}

/**
 * Epoch ms of a date and time as a web page prints it in the reader's language and zone: `December 12, 2022 at 8:31 PM
 * EST`, `7 January 2024 at 15:52 GMT`, `7.1.2024, 16:52 MEZ`, `2022-12-12T20:31:00-05:00`. Without a zone it is New
 * York time. Every character must be understood; an ambiguous text, such as `5/1/2025 16:49`, is accepted only if all
 * locales that print it mean the same instant. Otherwise returns the reason for rejecting it.
 */
export function readWrittenDate(text: string): number | string {
  const parts = datePieces(text.normalize('NFC').replace(/\s/gu, ' ').replaceAll('\u2212', '-').trim());
  if (typeof parts === 'string') return parts;
  const readings = choices(parts).flatMap((pieces) => {
    const instant = instantOf(pieces);
    return instant === null ? [] : [{ instant, isOfOneLocale: isOfOneLocale(pieces) }];
  });
  const printed = readings.filter((reading) => reading.isOfOneLocale);
  const instants = [...new Set((printed.length > 0 ? printed : readings).map(({ instant }) => instant))];
  const [instant] = instants;
  if (instant === undefined) return 'it is not one date and time';
  if (instants.length === 1) return instant;
  return `it can be ${instants.map((ms) => new Date(ms).toISOString()).join(' or ')}`;
}

/**
 * The words of a locale, as `npm run words` extracts them from `Intl`: `,` separates spellings, `|` separates months,
 * weekdays from Sunday, and halves of the day.
 */
interface LocaleWords {
  months: string;
  weekdays: string;
  /** With points and spaces as printed. */
  halfDays: string;
  /** Words that only connect, without a meaning. */
  links: string;
  /** Orders of year, month and day in digits, with their separator. */
  digits: string;
  /** Short zone names and their offset from UTC in minutes. */
  zones: string;
}

/** Locales with the same form. */
type Locales = ReadonlySet<string>;

/**
 * A word's meaning in a date: a month from 1, a weekday from Sunday = 0, the milliseconds at which its half of the day
 * begins, a zone's offset from UTC in milliseconds (NaN = New York's current one), or nothing.
 */
interface Meaning {
  kind: 'month' | 'weekday' | 'half' | 'zone' | 'link';
  value: number;
  /** Null = any. */
  locales: Locales | null;
}

interface Entry extends Meaning {
  locales: Set<string> | null;
}

interface Lexicon {
  /** By the normalized form of a word. */
  meanings: ReadonlyMap<string, readonly Entry[]>;
  /** The locales of a half of the day, as printed with points and spaces. */
  halfDays: ReadonlyMap<string, Locales>;
  /** The locales of an order of digits, such as `dmy/`. */
  digitOrders: ReadonlyMap<string, Locales>;
}

/** A word normalized for look-up: without case, accents, points and spaces. */
function plain(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[\p{M}.\s]/gu, '')
    .toLowerCase();
}

function addLocale(to: Map<string, Set<string>>, written: string, locale: string): void {
  to.set(written, (to.get(written) ?? new Set()).add(locale));
}

const spellings = (text: string) => text.split(', ').filter((word) => word !== '');

/** Called for each word of a locale, with its meaning there. */
type AddWord = (word: string, kind: Meaning['kind'], value: number) => void;

function addWords(words: LocaleWords, add: AddWord): void {
  const addGroups = (text: string, kind: Meaning['kind'], toValue: (index: number) => number) => {
    for (const [index, group] of text.split('|').entries())
      for (const word of spellings(group.trim())) add(word, kind, toValue(index));
  };
  addGroups(words.months, 'month', (index) => index + 1);
  addGroups(words.weekdays, 'weekday', (index) => index);
  addGroups(words.halfDays, 'half', (index) => index * 12 * hourMs);
  for (const word of spellings(words.links)) add(word, 'link', 0);
  for (const zone of spellings(words.zones)) {
    const [name, minutes] = zone.split(' ') as [string, string];
    add(name, 'zone', Number(minutes) * minuteMs);
  }
}

// The names of the exchange's zones mean those of the United States, even if others use the same names.
const zoneHours = { EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 };
const fixedZones = { ...zoneHours, GMT: 0, UTC: 0, Z: 0, ET: Number.NaN };

function makeLexicon(): Lexicon {
  const meanings = new Map<string, Entry[]>();
  const [halfDays, digitOrders] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  // Locales share most of their words.
  const plainForms = new Map<string, string>();
  for (const [locale, words] of Object.entries<LocaleWords>(wordsByLocale)) {
    addWords(words, (word, kind, value) => {
      const key = plainForms.get(word) ?? plain(word);
      plainForms.set(word, key);
      const known = meanings.get(key) ?? [];
      const same = known.find((entry) => entry.kind === kind && entry.value === value);
      if (same) same.locales?.add(locale);
      else meanings.set(key, [...known, { kind, value, locales: new Set([locale]) }]);
    });
    for (const word of spellings(words.halfDays.replace(' | ', ', '))) addLocale(halfDays, word, locale);
    for (const order of spellings(words.digits)) addLocale(digitOrders, order, locale);
  }
  for (const [name, hours] of Object.entries(fixedZones)) {
    const value = hours * hourMs;
    const known = meanings.get(plain(name))?.find((entry) => entry.kind === 'zone' && entry.value === value);
    meanings.set(plain(name), [known ?? { kind: 'zone', value, locales: null }]);
  }
  // German pages of some browsers end the time with it.
  meanings.set('uhr', [{ kind: 'link', value: 0, locales: null }]);
  return { meanings, halfDays, digitOrders };
}

// Built when the first date is read: most processes read none.
let made: Lexicon | null = null;
function lexicon(): Lexicon {
  made ??= makeLexicon();
  return made;
}

const nowhere: Locales = new Set();

/** Meanings of a word; empty = unknown. */
function meaningsOf(word: string): readonly Meaning[] {
  const { meanings, halfDays } = lexicon();
  return (meanings.get(plain(word)) ?? []).map(({ kind, value, locales }) => ({
    kind,
    value,
    locales: kind === 'link' ? null : kind === 'half' ? (halfDays.get(word) ?? nowhere) : locales,
  }));
}

/** The locales that print a date in digits in this order, with this separator. */
function localesOfDigits(order: 'ymd' | 'dmy' | 'mdy', separator: string): Locales {
  return lexicon().digitOrders.get(`${order}${separator}`) ?? nowhere;
}

/** A part of a written date: a word's meaning, a day since 1970, a day, a year, or ms since midnight. */
interface Piece extends Omit<Meaning, 'kind'> {
  kind: Meaning['kind'] | 'date' | 'day' | 'year' | 'time';
}

/** Possible meanings of a part; or the reason why it has none. */
type Alternatives = readonly Piece[] | string;

interface Rule {
  /** Matches at the end of the previous match. */
  pattern: RegExp;
  /** Required kind of the previous rule. */
  after?: 'time' | 'offset';
  name?: 'time' | 'offset';
  read(match: readonly string[]): Alternatives;
}

const anyLocale = (kind: Piece['kind'], value: number): Piece => ({ kind, value, locales: null });

function dateOf(year: string, month: string, day: string, locales: Locales | null): Piece[] {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDate(date) ? [{ kind: 'date', value: epochDay(date), locales }] : [];
}

/** Digits with the year last: the day first, or, with slashes and hyphens, possibly the month first. */
function yearLast(first: string, separator: string, second: string, year: string): Alternatives {
  const dayFirst = dateOf(year, second, first, localesOfDigits('dmy', separator));
  const monthFirst = separator === '.' ? [] : dateOf(year, first, second, localesOfDigits('mdy', separator));
  const alternatives = [...dayFirst, ...monthFirst];
  return alternatives.length > 0 ? alternatives : 'no such date';
}

function tokenTime(hour: string, minute: string, second = '0', fraction = '0'): Alternatives {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return 'no such time';
  const ms = Math.floor(Number(`0.${fraction}`) * 1000);
  return [anyLocale('time', Number(hour) * hourMs + Number(minute) * minuteMs + Number(second) * 1000 + ms)];
}

function offsetOf(sign: string, hours: string, minutes = '0'): Alternatives {
  if (Number(hours) > 14 || Number(minutes) > 59) return 'no such offset from UTC';
  return [anyLocale('zone', (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs))];
}

function wordOf(word: string): Alternatives {
  const meanings = meaningsOf(word);
  if (meanings.length === 0) return 'not a known word of dates';
  if (meanings.filter(({ kind }) => kind === 'zone').length > 1) return 'the name of several time zones';
  return meanings;
}

const dateOrReason = (pieces: Piece[]): Alternatives => (pieces.length > 0 ? pieces : 'no such date');

const offset = '([+-])(\\d{1,2})(?:[:.]?(\\d{2}))?(?![\\d:])';
const rules: readonly Rule[] = [
  // `GMT-0400 (Eastern Daylight Time)`: the name repeats the offset.
  { pattern: /\s*\([\p{L}\p{M}\s.'-]+\)/uy, after: 'offset', read: () => [] },
  { pattern: /[\s,，()[\]（）]+/uy, read: () => [] },
  {
    pattern: /(\d{4})([./-]) ?(\d{1,2})\2 ?(\d{1,2})(?!\d)(?:\.(?!\d)|T(?=\d))?/uy,
    read: ([, year, , month, day]) => dateOrReason(dateOf(year!, month!, day!, null)),
  },
  {
    pattern: /(\d{1,2})([./-]) ?(\d{1,2})\2 ?(\d{4})(?!\d)/uy,
    read: ([, first, separator, second, year]) => yearLast(first!, separator!, second!, year!),
  },
  { pattern: /\d{1,2}([/-])\d{1,2}\1\d{1,2}(?!\d)/uy, read: () => 'not a date with a year of four digits' },
  {
    pattern: /(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]/uy,
    read: ([, year, month, day]) => dateOrReason(dateOf(year!, month!, day!, null)),
  },
  {
    name: 'time',
    pattern: /(\d{1,2})([:.])(\d{2})(?:\2(\d{2})(?:(?<=:\d{2})[.,](\d{1,9}))?)?(?![\d:])/uy,
    read: ([, hour, , minute, second, fraction]) => tokenTime(hour!, minute!, second, fraction),
  },
  {
    name: 'time',
    pattern: /(\d{1,2}) ?h ?(\d{2})(?: min (\d{2}) s)?(?![\p{L}\d])/uy,
    read: ([, hour, minute, second]) => tokenTime(hour!, minute!, second),
  },
  {
    name: 'time',
    pattern: /(\d{1,2}) ?[時时시] ?(\d{1,2}) ?[分분](?: ?(\d{1,2}) ?[秒초])?/uy,
    read: ([, hour, minute, second]) => tokenTime(hour!, minute!, second),
  },
  {
    name: 'offset',
    pattern: new RegExp(`(?:GMT|UTC)${offset}`, 'uy'),
    read: ([, sign, hours, minutes]) => offsetOf(sign!, hours!, minutes),
  },
  {
    name: 'offset',
    after: 'time',
    pattern: new RegExp(` ?${offset}`, 'uy'),
    read: ([, sign, hours, minutes]) => offsetOf(sign!, hours!, minutes),
  },
  { pattern: /(\d{4})(?!\d)/uy, read: ([, year]) => [anyLocale('year', Number(year))] },
  { pattern: /(\d{1,2})(?!\d)\.?/uy, read: ([, day]) => [anyLocale('day', Number(day))] },
  { pattern: /[aApP]\.? ?[mM]\.?(?![\p{L}\p{M}])/uy, read: ([word]) => wordOf(word!) },
  // Chinese has no space between a zone and the half of the day.
  { pattern: /\p{Script=Han}+|\p{Script=Hangul}+/uy, read: ([word]) => wordOf(word!) },
  { pattern: /(?:(?![\p{Script=Han}\p{Script=Hangul}])[\p{L}\p{M}-])+\.?/uy, read: ([word]) => wordOf(word!) },
];

/**
 * The parts of a written date, each with its alternatives; or the reason why it is not a date. Every character belongs
 * to a part.
 */
function datePieces(text: string): (readonly Piece[])[] | string {
  const pieces: (readonly Piece[])[] = [];
  let last: Rule['name'];
  for (let at = 0; at < text.length; ) {
    let match: RegExpExecArray | null = null;
    const rule = rules.find(({ pattern, after }) => {
      if (after !== undefined && after !== last) return false;
      pattern.lastIndex = at;
      match = pattern.exec(text);
      return match !== null;
    });
    if (!rule || !match) return `${JSON.stringify(text.slice(at, at + 10))} is not part of a date`;
    const [found] = match as RegExpExecArray;
    const alternatives = rule.read(match);
    if (typeof alternatives === 'string') return `${JSON.stringify(found)} is ${alternatives}`;
    if (alternatives.length > 0) {
      pieces.push(alternatives);
      last = rule.name;
    }
    at += found.length;
  }
  return pieces;
}
