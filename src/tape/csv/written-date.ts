import { exchangeInstant, isDate, type SessionDate } from '../../domain/market-time.ts';
import { hourMs, minuteMs } from '../../domain/units.ts';

// Offsets of the zone names that browsers print, in hours. A name says which of standard and summer time it means.
const zoneOffsets: Record<string, number> = {
  Z: 0,
  UTC: 0,
  GMT: 0,
  WET: 0,
  WEST: 1,
  BST: 1,
  CET: 1,
  MEZ: 1,
  CEST: 2,
  MESZ: 2,
  EET: 2,
  EEST: 3,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  JST: 9,
  HKT: 8,
  SGT: 8,
  AEST: 10,
  AEDT: 11,
};

function plain(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f.]/g, '')
    .toLowerCase();
}

// Month names as the page prints them in the reader's language.
const months = new Map<string, number>();
for (const locale of ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'sv', 'da']) {
  for (const month of ['long', 'short'] as const) {
    const format = new Intl.DateTimeFormat(locale, { month, day: 'numeric', timeZone: 'UTC' });
    for (let index = 0; index < 12; index++) {
      const part = format.formatToParts(Date.UTC(2024, index, 15)).find(({ type }) => type === 'month')!.value;
      months.set(plain(part), index + 1);
    }
  }
}

function dateOf(year: string, month: number, day: string): SessionDate | null {
  const date = `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDate(date) ? date : null;
}

/**
 * The date in a text: ISO, month name in any order, or digits (month first with slashes, unless that is no month; day
 * first with points).
 */
function findDate(text: string): SessionDate | null {
  const iso = /\b(\d{4})-(\d{2})-(\d{2})/.exec(text);
  if (iso) return dateOf(iso[1]!, Number(iso[2]), iso[3]!);
  const digits = /\b(\d{1,2})([/.-])(\d{1,2})\2(\d{4})\b/.exec(text);
  if (digits) {
    const [, first, separator, second, year] = digits as unknown as [string, string, string, string, string];
    const dayFirst = separator === '.' || Number(first) > 12;
    return dayFirst ? dateOf(year, Number(second), first) : dateOf(year, Number(first), second);
  }
  const words = [...plain(text).matchAll(/\p{Letter}+/gu)]
    .map(([word]) => months.get(word))
    .filter((month) => month !== undefined);
  const year = /\b(\d{4})\b/.exec(text);
  const day = /(?<![\d:])(\d{1,2})(?!\d|:)/.exec(text);
  return words.length > 0 && year && day ? dateOf(year[1]!, words[0]!, day[1]!) : null;
}

/** Minutes and seconds of the day: `8:31 PM`, `20:31`, `20:31:05`, `8.31 pm`; null for none or an impossible one. */
function findTime(text: string): { minute: number; second: number } | null {
  const match = /(?<![\d+-])(\d{1,2})[:h](\d{2})(?::(\d{2}))?(?:\.\d+)?[\s\u00a0\u202f]*([ap])?\.?(?:m\.?)?/i.exec(
    text,
  );
  if (!match) return null;
  const [, hourText, minuteText, secondText = '0', half] = match;
  let hour = Number(hourText);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (/p/i.test(half) ? 12 : 0);
  }
  if (hour > 23 || Number(minuteText) > 59 || Number(secondText) > 59) return null;
  return { minute: hour * 60 + Number(minuteText), second: Number(secondText) };
}

/** The UTC offset named in a text, ms; `exchange` when none is named; null for a zone that is not known. */
function findOffset(text: string): number | 'exchange' | null {
  const numeric = /(?:GMT|UTC|:\d{2}(?:\.\d+)?\s*)([+-])(\d{1,2})(?::?(\d{2}))?\s*$/.exec(text);
  if (numeric)
    return (numeric[1] === '-' ? -1 : 1) * (Number(numeric[2]) * hourMs + Number(numeric[3] ?? 0) * minuteMs);
  const word = /\d\s*(?:[ap]\.?m\.?\s*)?([A-Z]+)\s*$/i.exec(text.replace(/\s*\([^)]*\)\s*$/, ''))?.[1];
  if (word === undefined || /^[ap]m$/i.test(word) || word.toUpperCase() === 'ET' || word.toLowerCase() === 'uhr')
    return 'exchange';
  const hours = zoneOffsets[word.toUpperCase()];
  return hours === undefined ? null : hours * hourMs;
}

/**
 * Epoch ms of a date and time as a web page prints it in the reader's language and zone:
 * `December 12, 2022 at 8:31 PM EST`, `7 January 2024 at 15:52 GMT`, `12/12/2022 8:31 PM`, `7.1.2024, 16:52 MEZ`,
 * `2022-12-12T20:31:00-05:00`. Without a zone it is New York's. Null when date or time is missing, impossible, or in a
 * zone that is not known: an instant is never guessed.
 */
export function readWrittenDate(text: string): number | null {
  const date = findDate(text);
  const time = findTime(text);
  const offset = findOffset(text.trim());
  if (date === null || time === null || offset === null) return null;
  if (offset === 'exchange') return exchangeInstant(date, time.minute) + time.second * 1000;
  return Date.parse(`${date}T00:00:00Z`) + time.minute * minuteMs + time.second * 1000 - offset;
}
