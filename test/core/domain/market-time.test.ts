import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import {
  addDays,
  dateOfEpochDay,
  epochDay,
  exchangeDate,
  exchangeInstant,
  exchangeMinuteOfDay,
  exchangeTimeZone,
  isDate,
  isTimeZone,
  parseClockTime,
  parseInstant,
} from '../../../src/core/domain/market-time.ts';

const instants = fc.integer({ min: Date.parse('1970-01-02T00:00Z'), max: Date.parse('2099-12-31T00:00Z') });
const transitions = ['2026-03-08T07:00Z', '2026-11-01T06:00Z', '2019-03-10T07:00Z', '2019-11-03T06:00Z'].map((iso) =>
  Date.parse(iso),
);
const nearTransitions = fc
  .tuple(fc.constantFrom(...transitions), fc.integer({ min: -7_200_000, max: 7_200_000 }))
  .map(([at, by]) => at + by);
const anyInstant = fc.oneof(instants, nearTransitions, fc.constantFrom(...transitions));

describe('New York time', () => {
  test('agrees with the time-zone database at every instant, clock changes included', () => {
    fc.assert(
      fc.property(anyInstant, (ms) => {
        const zoned = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(exchangeTimeZone);
        expect(exchangeDate(ms)).toBe(zoned.toPlainDate().toString());
        expect(exchangeMinuteOfDay(ms)).toBe(zoned.hour * 60 + zoned.minute);
      }),
      { numRuns: 1000 },
    );
  });

  test('a date and minute become the instant that reads so', () => {
    fc.assert(
      fc.property(anyInstant, fc.integer({ min: 240, max: 1439 }), (ms, minute) => {
        const date = exchangeDate(ms);
        expect(exchangeMinuteOfDay(exchangeInstant(date, minute))).toBe(minute);
        expect(exchangeDate(exchangeInstant(date))).toBe(date);
        expect(exchangeMinuteOfDay(exchangeInstant(date))).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test('epoch days and dates are each other’s inverse', () => {
    // Years −5 to 10005: a year outside the four digits has a sign and six.
    const days = fc.integer({ min: -721_400, max: 2_935_000 });
    fc.assert(fc.property(days, (day) => epochDay(dateOfEpochDay(day)) === day));
    expect(addDays('0000-01-01', -1)).toBe('-000001-12-31');
    expect(addDays('9999-12-31', 1)).toBe('+010000-01-01');
    expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
  });
});

describe('points in time as callers write them', () => {
  const read = (text: string, zone = exchangeTimeZone) => parseInstant(text, zone, 'from').ms;

  test.each([
    ['1549895400000', Date.parse('2019-02-11T14:30Z')],
    ['2019-02-11', Date.parse('2019-02-11T05:00Z')],
    ['2019-02-11T09:30', Date.parse('2019-02-11T14:30Z')],
    ['2019-02-11T09:30:15', Date.parse('2019-02-11T14:30:15Z')],
    ['2019-02-11T09:30:15.250', Date.parse('2019-02-11T14:30:15.250Z')],
    ['2019-02-11T09:30:15.9990001', Date.parse('2019-02-11T14:30:16Z')],
    ['2019-02-11T09:30:15.250000001Z', Date.parse('2019-02-11T09:30:15.251Z')],
    ['2019-02-11T09:30:15.250000000Z', Date.parse('2019-02-11T09:30:15.250Z')],
    ['2019-02-11T09:30:00Z', Date.parse('2019-02-11T09:30Z')],
    ['2019-02-11T09:30:00.000Z', Date.parse('2019-02-11T09:30Z')],
    ['2019-02-11T09:30:00+01:00', Date.parse('2019-02-11T08:30Z')],
    ['2019-02-11T09:30-0500', Date.parse('2019-02-11T14:30Z')],
  ])('%s is read', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test('tz decides where nothing was written', () => {
    expect(read('2019-02-11T09:30', 'Europe/Berlin')).toBe(Date.parse('2019-02-11T08:30Z'));
    expect(read('2019-02-11', 'UTC')).toBe(Date.parse('2019-02-11T00:00Z'));
  });

  test('a time that the clock change skips is the later instant, one that it repeats the earlier', () => {
    expect(read('2026-03-08T02:30')).toBe(Date.parse('2026-03-08T07:30Z'));
    expect(read('2026-11-01T01:30')).toBe(Date.parse('2026-11-01T05:30Z'));
  });

  test('every instant written out is read back', () => {
    fc.assert(
      fc.property(anyInstant, (ms) => {
        expect(read(new Date(ms).toISOString())).toBe(ms);
        expect(read(String(ms))).toBe(ms);
      }),
    );
  });

  test.each([
    '',
    'today',
    '2019-13-01',
    '2019-02-30',
    '2019-02-11T25:00',
    '2019-02-11T09:60',
    '2019-02-11 09:30',
    '1e12',
    '99999999999999999',
    '2019-02-11T09:30+99:99',
  ])('%j is refused, naming the parameter', (text) => {
    expect(() => parseInstant(text, exchangeTimeZone, 'from')).toThrow(
      expect.objectContaining({ name: 'InvalidValue', value: 'from', expected: expect.stringMatching(/^expected/) }),
    );
  });

  test('dates, zones and clock times are told from what only looks like them', () => {
    expect(['2024-02-29', '2023-02-29', '2023-2-9', '20230209'].map(isDate)).toEqual([true, false, false, false]);
    expect(
      ['America/New_York', 'UTC', 'Etc/GMT+5', '+05:00', 'Mars/Base', '', 'America/../New_York'].map(isTimeZone),
    ).toEqual([true, true, true, false, false, false, false]);
    expect(parseClockTime('09:30', 'from')).toBe(570);
    expect(() => parseClockTime('24:00', 'to')).toThrow('to: expected a time HH:MM');
  });
});

test('a local time in New York is the instant that the time-zone library says, around every clock change (property)', () => {
  const year = fc.integer({ min: 0, max: 9999 }).map((number) => String(number).padStart(4, '0'));
  const two = (min: number, max: number) => fc.integer({ min, max }).map((number) => String(number).padStart(2, '0'));
  const anyDay = fc.tuple(year, two(1, 12), two(1, 28)).map((parts) => parts.join('-'));
  // Clock changes are on Sundays from the 7th to the 14th of March and before the 8th of November, others before 2007.
  const nearChange = fc
    .tuple(fc.integer({ min: 1880, max: 2100 }).map(String), fc.constantFrom('03', '04', '10', '11'), two(1, 30))
    .map((parts) => parts.join('-'));
  fc.assert(
    fc.property(fc.oneof(anyDay, nearChange), two(0, 23), two(0, 59), (date, hour, minute) => {
      const zoned = Temporal.PlainDateTime.from(`${date}T${hour}:${minute}`).toZonedDateTime(exchangeTimeZone, {
        disambiguation: 'compatible',
      });
      expect(parseInstant(`${date}T${hour}:${minute}`, exchangeTimeZone, 'at').ms).toBe(zoned.epochMilliseconds);
      const start = Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: exchangeTimeZone });
      expect(parseInstant(date, exchangeTimeZone, 'at').ms).toBe(start.epochMilliseconds);
    }),
    { numRuns: 3000 },
  );
});
