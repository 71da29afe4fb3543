import { describe, expect, test } from 'vitest';
import { readWrittenDate } from '../../../src/tape/csv/written-date.ts';

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
    'May 1, 2025 at 4:49 PM XYZ',
    'May 32, 2025 at 4:49 PM',
    'May 1, 2025 at 13:49 PM',
    'May 1, 2025',
    '4:49 PM',
    '',
    'soon',
  ])('%s is no instant', (text) => {
    expect(readWrittenDate(text)).toBeNull();
  });
});
