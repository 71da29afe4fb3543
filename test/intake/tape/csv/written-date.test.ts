import { describe, expect, test } from 'vitest';
import { readWrittenDate } from '../../../../src/intake/tape/csv/written-date.ts';
import wordsByLocale from '../../../../src/intake/tape/csv/written-date-words.json' with { type: 'json' };

describe('dates as a page prints them', () => {
  test.each([
    ['December 12, 2022 at 8:31 PM EST', '2022-12-13T01:31:00Z'],
    ['May 1, 2025 at 4:49 PM EDT', '2025-05-01T20:49:00Z'],
    ['May 1, 2025 at 4:49\u202fPM EDT', '2025-05-01T20:49:00Z'],
    ['May 1, 2025 at 12:05 AM EDT', '2025-05-01T04:05:00Z'],
    ['May 1, 2025 at 4:49 PM', '2025-05-01T20:49:00Z'],
    ['January 7, 2024 at 10:52 AM', '2024-01-07T15:52:00Z'],
    ['Jan 7, 2024, 10:52:03 AM', '2024-01-07T15:52:03Z'],
    ['7 January 2024 at 15:52 GMT', '2024-01-07T15:52:00Z'],
    ['1 May 2025 at 21:49 BST', '2025-05-01T20:49:00Z'],
    ['7. Januar 2024 um 16:52 MEZ', '2024-01-07T15:52:00Z'],
    ['7.1.2024, 16:52 MEZ', '2024-01-07T15:52:00Z'],
    ['7 de enero de 2024, 10:52 GMT-5', '2024-01-07T15:52:00Z'],
    ['1 mai 2025 à 22:49 UTC+2', '2025-05-01T20:49:00Z'],
    ['12/12/2022 8:31 PM', '2022-12-13T01:31:00Z'],
    ['5/1/2025, 4:49:10 PM EDT', '2025-05-01T20:49:10Z'],
    ['13/12/2022 20:31', '2022-12-14T01:31:00Z'],
    ['2022-12-12T20:31:00-05:00', '2022-12-13T01:31:00Z'],
    ['2022-12-12T20:31:00Z', '2022-12-12T20:31:00Z'],
    ['2022-12-12 20:31', '2022-12-13T01:31:00Z'],
    ['Thu May 01 2025 16:49:00 GMT-0400 (Eastern Daylight Time)', '2025-05-01T20:49:00Z'],
  ])('%s', (text, instant) => {
    expect(readWrittenDate(text)).toBe(Date.parse(instant));
  });

  test.each([
    ['10 novembre 2023 à 12:55 UTC\u22128', '2023-11-10T20:55:00Z'],
    ['5 januari 2023 kl. 11.01 GMT\u22123:30', '2023-01-05T14:31:00Z'],
    ['5 januari 2023 om 06:31 PST', '2023-01-05T14:31:00Z'],
    ['19 augustus 2023 om 19:35 PDT', '2023-08-20T02:35:00Z'],
    ['19 de agosto de 2023 a las 9:35 p.\u00a0m. COT', '2023-08-20T02:35:00Z'],
    ['5 de enero de 2023 a las 11:31 a. m. ART', '2023-01-05T14:31:00Z'],
    ['5. januar 2023 kl. 09.31 GMT-5', '2023-01-05T14:31:00Z'],
    ['5 janvier 2023 à 09 h 31 HNE', '2023-01-05T14:31:00Z'],
    ['5. Jänner 2023 um 09:31 GMT-5', '2023-01-05T14:31:00Z'],
    ['5. Januar 2023 um 16:31 OEZ', '2023-01-05T14:31:00Z'],
    ['5 de janeiro de 2023 às 11:31 BRT', '2023-01-05T14:31:00Z'],
    ['2023年1月5日 GMT-5 09:31', '2023-01-05T14:31:00Z'],
    ['2023年1月5日星期四 GMT-5上午9:31', '2023-01-05T14:31:00Z'],
    ['2023年1月5日 午後0:31 JST', '2023-01-05T03:31:00Z'],
    ['2023년 1월 5일 오전 9시 31분 5초 GMT-5', '2023-01-05T14:31:05Z'],
    ['Dienstag, 7. März 2023 um 16:52 MEZ', '2023-03-07T15:52:00Z'],
    ['mar. 7 mars 2023, 16:52 UTC+1', '2023-03-07T15:52:00Z'],
    ['mar, 7 mar 2023, 16:52 CET', '2023-03-07T15:52:00Z'],
  ])('%s is read to its last character', (text, instant) => {
    expect(readWrittenDate(text)).toBe(Date.parse(instant));
  });

  test.each([
    ['English of the United States', '5/1/2023, 9:31 AM EST', '2023-05-01T14:31:00Z'],
    ['Spanish of the United States', '5/1/2023, 9:31 a.m. EST', '2023-01-05T14:31:00Z'],
    ['Colombia', '5/01/2023, 9:31 a. m. COT', '2023-01-05T14:31:00Z'],
    ['Hong Kong', '5/1/2023 上午9:31 [EST]', '2023-01-05T14:31:00Z'],
    ['any locale', 'Thu 5/1/2023 9:31', '2023-01-05T14:31:00Z'],
    ['any locale', '13/1/2023 9:31', '2023-01-13T14:31:00Z'],
  ])('digits are read in the order of %s: %s', (_, text, instant) => {
    expect(readWrittenDate(text)).toBe(Date.parse(instant));
  });

  test.each([
    ['May 1, 2025 at 4:49 PM XYZ', 'XYZ'],
    ['May 1, 2025 at 4:49 PM EDT!', '!'],
    ['May 32, 2025 at 4:49 PM', 'not one date and time'],
    ['May 1, 2025 at 13:49 PM', 'not one date and time'],
    ['May 1, 2025 at 24:05', 'no such time'],
    ['May 1, 2025', 'not one date and time'],
    ['4:49 PM', 'not one date and time'],
    ['', 'not one date and time'],
    ['soon', 'soon'],
    ['5 January 2023 at 8:01 pm IST', '"IST" is the name of several time zones'],
    ['5/1/2023 16:49', 'it can be 2023-01-05T21:49:00.000Z or 2023-05-01T20:49:00.000Z'],
    ['01-05-2023, 4:49 PM EST', 'it can be'],
    ['Wednesday, May 1, 2025 at 4:49 PM EDT', 'not one date and time'],
    ['May 1, 2025 at 4:49 PM EDT GMT-4', 'not one date and time'],
    ['May 1, 2025 at 4:49 PM EDT or 5:49 PM EDT', '"or'],
    ['1/5/23, 2:31 PM EST', '"1/5/23" is not a date with a year of four digits'],
    ['May 1, 2025 at 4:49 PM GMT+25', 'offset'],
  ])('%s is no instant: %s', (text, reason) => {
    expect(readWrittenDate(text)).toContain(reason);
  });
});

/** Zones of the exchange's readers, half-hours, both hemispheres, and names of one and of several zones. */
const zones = [
  ...['America/New_York', 'America/Chicago', 'America/Denver', 'America/Los_Angeles', 'America/Anchorage'],
  ...['America/Halifax', 'America/St_Johns', 'America/Phoenix', 'Pacific/Honolulu', 'America/Mexico_City'],
  ...['America/Bogota', 'America/Lima', 'America/Argentina/Buenos_Aires', 'America/Sao_Paulo', 'America/Santiago'],
  ...['Europe/London', 'Europe/Dublin', 'Europe/Lisbon', 'Europe/Berlin', 'Europe/Prague', 'Europe/Helsinki'],
  ...['Europe/Moscow', 'Europe/Istanbul', 'Asia/Dubai', 'Asia/Kolkata', 'Asia/Shanghai', 'Asia/Tokyo'],
  ...['Asia/Singapore', 'Australia/Sydney', 'UTC'],
];
const instants = [
  ...['2023-01-05T14:31Z', '2023-03-07T05:05Z', '2023-08-20T02:35Z', '2023-11-10T20:55Z'],
  ...['2024-02-29T12:00Z', '2025-05-01T20:49Z', '2026-12-31T23:59Z'],
].map((text) => Date.parse(text));
const minutes = { year: 'numeric', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const;

/** Lines of every locale, zone and instant: how many are read as written, and those that are not read, by reason. */
function readAll(style: Intl.DateTimeFormatOptions) {
  const refused: { text: string; reason: string }[] = [];
  const wrong: string[] = [];
  for (const locale of Object.keys(wordsByLocale))
    for (const timeZone of zones) {
      const format = new Intl.DateTimeFormat(locale, { ...style, timeZone });
      for (const instant of instants) {
        const text = format.format(instant);
        const read = readWrittenDate(text);
        if (typeof read === 'string') refused.push({ text, reason: read });
        else if (read !== instant) wrong.push(`${locale} ${timeZone}: ${text}`);
      }
    }
  return { wrong, refused };
}

/**
 * A name of several zones (9 of the 10,080 lines of a style: India's and Ireland's), or digits that are a date in
 * either order beside nothing that only one order is printed with (98 of Portugal's short months, which are digits).
 */
const isAmbiguous = ({ text, reason }: { text: string; reason: string }) =>
  reason.includes('it can be') ? /\b(?:0?\d|1[0-2])\/(?:0?\d|1[0-2])\/\d{4}/.test(text) : /IST\]?$/.test(text);

describe('dates of 48 locales in 30 zones', () => {
  test.each([
    ['the month in full', { ...minutes, month: 'long' }, 9],
    ['the month in short', { ...minutes, month: 'short' }, 107],
    ['a long date with seconds', { dateStyle: 'long', timeStyle: 'long' }, 9],
    ['a medium date with seconds', { dateStyle: 'medium', timeStyle: 'long' }, 107],
    ['the weekday', { dateStyle: 'full', timeStyle: 'long' }, 9],
    ['halves of the day', { ...minutes, month: 'long', hour12: true }, 9],
    ['24 hours', { ...minutes, month: 'long', hour12: false }, 9],
    ['digits alone', { ...minutes, month: 'numeric' }, 1200],
  ] as [string, Intl.DateTimeFormatOptions, number][])(
    'with %s are read as written, or refused because they are ambiguous',
    (_, style, count) => {
      const { wrong, refused } = readAll(style);
      expect(wrong).toEqual([]);
      expect(refused.filter((one) => !isAmbiguous(one))).toEqual([]);
      expect(refused).toHaveLength(count);
    },
  );
});
