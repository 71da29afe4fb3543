import { keyDefaultTop } from '../../resolvers/gex/history.ts';
import { type FieldCost, itemsAsked, listSizes } from '../cost.ts';

/** Chain rows behind a row of one strike and expiry: a call and a put. */
const rowsOfStrikeAndExpiry = 2;

/** Lists of a capture, cut to the `top` strikes; null = all of them. */
export function strikeSizes(top: number | null | undefined, byExpiry: boolean | null | undefined = false) {
  const strikes = itemsAsked(top, listSizes.strikes);
  if (!byExpiry) return { strikes };
  return {
    strikes: Math.min(listSizes.strikesByExpiry, strikes * listSizes.expiries),
    rowsOfStrike: rowsOfStrikeAndExpiry,
  };
}

interface CaptureArgs {
  topStrikes?: number | null | undefined;
  byExpiry?: boolean | null | undefined;
}

/** Cost of reading one capture. */
export const capturePoints = { once: 1, each: 0.08 };

/** Cost of one capture. */
export const captureCost: FieldCost<CaptureArgs> = {
  ...capturePoints,
  sizes: ({ topStrikes, byExpiry }) => strikeSizes(topStrikes, byExpiry),
};

interface HistoryArgs {
  from?: string | null | undefined;
  to?: string | null | undefined;
  top?: number | null | undefined;
  byExpiry?: boolean | null | undefined;
}

const minutesBetweenCaptures = 5;

/** Minutes of a clock time HH:MM. */
const minutesOf = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));

function capturesBetween({ from, to }: HistoryArgs): number {
  if (from == null || to == null) return listSizes.captures;
  const captures = Math.ceil((minutesOf(to) - minutesOf(from)) / minutesBetweenCaptures) + 1;
  return Number.isFinite(captures) ? itemsAsked(captures, listSizes.captures) : listSizes.captures;
}

/** Cost of the captures of a session; those of API keys are trimmed by default. */
export const historyCost: FieldCost<HistoryArgs> = {
  once: 2.5,
  each: ({ captures }) => 0.1 + 0.03 * captures,
  sizes: (args, { kind }) => ({
    captures: capturesBetween(args),
    ...strikeSizes(args.top ?? (kind === 'key' ? keyDefaultTop : null), args.byExpiry),
  }),
};
