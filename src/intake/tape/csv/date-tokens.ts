import { epochDay, isDate } from '../../../core/domain/market-time.ts';
import { hourMs, minuteMs } from '../../../platform/runtime/clock.ts';
import { type Locales, localesOfDigits, type Meaning, meaningsOf } from './date-lexicon.ts';

/** A part of a written date: a word's meaning, a day since 1970, a day, a year, or ms since midnight. */
export interface Piece extends Omit<Meaning, 'kind'> {
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

function timeOf(hour: string, minute: string, second = '0', fraction = '0'): Alternatives {
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
    read: ([, hour, , minute, second, fraction]) => timeOf(hour!, minute!, second, fraction),
  },
  {
    name: 'time',
    pattern: /(\d{1,2}) ?h ?(\d{2})(?: min (\d{2}) s)?(?![\p{L}\d])/uy,
    read: ([, hour, minute, second]) => timeOf(hour!, minute!, second),
  },
  {
    name: 'time',
    pattern: /(\d{1,2}) ?[時时시] ?(\d{1,2}) ?[分분](?: ?(\d{1,2}) ?[秒초])?/uy,
    read: ([, hour, minute, second]) => timeOf(hour!, minute!, second),
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
export function datePieces(text: string): (readonly Piece[])[] | string {
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
