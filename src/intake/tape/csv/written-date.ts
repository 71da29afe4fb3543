import { dateOfEpochDay, epochDay, exchangeInstant, isDate } from '../../../core/domain/market-time.ts';
import { dayMs, hourMs, minuteMs } from '../../../platform/runtime/clock.ts';
import { datePieces, type Piece } from './date-tokens.ts';

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
