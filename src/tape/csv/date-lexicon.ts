import { hourMs, minuteMs } from '../../domain/units.ts';
import { wordsByLocale } from './written-date-words.ts';

/** Locales that print something so. */
export type Locales = ReadonlySet<string>;

/**
 * What a word can say in a date: a month from 1, a weekday from Sunday = 0, the milliseconds at which its half of the
 * day begins, a zone's offset from UTC in milliseconds (NaN = New York's, whichever is in force), or nothing.
 */
export interface Meaning {
  kind: 'month' | 'weekday' | 'half' | 'zone' | 'link';
  value: number;
  /** Null = of any. */
  locales: Locales | null;
}

interface Entry extends Meaning {
  locales: Set<string> | null;
}

const entries = new Map<string, Entry[]>();
const halfDays = new Map<string, Set<string>>();
const digitOrders = new Map<string, Set<string>>();

/** A word as it is looked up: without case, accents, points and spaces. */
function plain(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[\p{M}.\s]/gu, '')
    .toLowerCase();
}

function addLocale(to: Map<string, Set<string>>, written: string, locale: string): void {
  to.set(written, (to.get(written) ?? new Set()).add(locale));
}

function add(word: string, kind: Meaning['kind'], value: number, locale: string): void {
  const known = entries.get(plain(word)) ?? [];
  const same = known.find((entry) => entry.kind === kind && entry.value === value);
  if (same) same.locales?.add(locale);
  else entries.set(plain(word), [...known, { kind, value, locales: new Set([locale]) }]);
}

const spellings = (text: string) => text.split(', ').filter((word) => word !== '');

for (const [locale, words] of Object.entries(wordsByLocale)) {
  const addGroups = (text: string, kind: Meaning['kind'], toValue: (index: number) => number) => {
    for (const [index, group] of text.split('|').entries())
      for (const word of spellings(group.trim())) add(word, kind, toValue(index), locale);
  };
  addGroups(words.months, 'month', (index) => index + 1);
  addGroups(words.weekdays, 'weekday', (index) => index);
  addGroups(words.halfDays, 'half', (index) => index * 12 * hourMs);
  for (const word of spellings(words.halfDays.replace(' | ', ', '))) addLocale(halfDays, word, locale);
  for (const word of spellings(words.links)) add(word, 'link', 0, locale);
  for (const order of spellings(words.digits)) addLocale(digitOrders, order, locale);
  for (const zone of spellings(words.zones)) {
    const [name, minutes] = zone.split(' ') as [string, string];
    add(name, 'zone', Number(minutes) * minuteMs, locale);
  }
}

// The exchange's own zones are those of the United States, whoever else uses the names.
const zoneHours = { EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 };
const fixedZones = { ...zoneHours, GMT: 0, UTC: 0, Z: 0, ET: Number.NaN };
for (const [name, hours] of Object.entries(fixedZones)) {
  const value = hours * hourMs;
  const known = entries.get(plain(name))?.find((entry) => entry.kind === 'zone' && entry.value === value);
  entries.set(plain(name), [known ?? { kind: 'zone', value, locales: null }]);
}
// German pages of some browsers end the time with it.
add('Uhr', 'link', 0, 'de-DE');

const nowhere: Locales = new Set();

/** What a word can mean; none = it is not known. */
export function meaningsOf(word: string): readonly Meaning[] {
  return (entries.get(plain(word)) ?? []).map(({ kind, value, locales }) => ({
    kind,
    value,
    locales: kind === 'link' ? null : kind === 'half' ? (halfDays.get(word) ?? nowhere) : locales,
  }));
}

/** The locales that print a date in digits in this order, with this separator. */
export function localesOfDigits(order: 'ymd' | 'dmy' | 'mdy', separator: string): Locales {
  return digitOrders.get(`${order}${separator}`) ?? nowhere;
}
