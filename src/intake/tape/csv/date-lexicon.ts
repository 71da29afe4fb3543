import { hourMs, minuteMs } from '../../../platform/runtime/clock.ts';
import wordsByLocale from './written-date-words.json' with { type: 'json' };

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
export type Locales = ReadonlySet<string>;

/**
 * A word's meaning in a date: a month from 1, a weekday from Sunday = 0, the milliseconds at which its half of the day
 * begins, a zone's offset from UTC in milliseconds (NaN = New York's current one), or nothing.
 */
export interface Meaning {
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
export function meaningsOf(word: string): readonly Meaning[] {
  const { meanings, halfDays } = lexicon();
  return (meanings.get(plain(word)) ?? []).map(({ kind, value, locales }) => ({
    kind,
    value,
    locales: kind === 'link' ? null : kind === 'half' ? (halfDays.get(word) ?? nowhere) : locales,
  }));
}

/** The locales that print a date in digits in this order, with this separator. */
export function localesOfDigits(order: 'ymd' | 'dmy' | 'mdy', separator: string): Locales {
  return lexicon().digitOrders.get(`${order}${separator}`) ?? nowhere;
}
