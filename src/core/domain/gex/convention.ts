import type { ExpirySet } from '../chain/expiry-set.ts';

/** Choices by which published figures of dealer gamma differ (methodology 11), besides that of the expiries. */
const conventionChoices = {
  unit: ['per_dollar', 'per_percent', 'shares'],
  weight: ['open_interest', 'volume', 'open_interest_and_volume'],
  sign: ['calls_plus', 'by_flow'],
  gamma: ['solved', 'vendor'],
  years: ['calendar', 'weekdays_262'],
  flip: ['cumulative', 'repriced'],
  walls: ['net', 'one_sided'],
} as const;

export type ConventionChoices = { [Name in keyof typeof conventionChoices]: (typeof conventionChoices)[Name][number] };

/** A convention: every choice. */
export interface GexConvention extends ConventionChoices, ExpirySet {}

/** The convention of captures, except for the source of gammas, which is a capture's own. */
export const captureConvention = {
  unit: 'per_dollar',
  weight: 'open_interest',
  sign: 'calls_plus',
  years: 'calendar',
  flip: 'cumulative',
  walls: 'net',
  expiries: 'all',
  withinDays: null,
  dates: null,
} as const satisfies Omit<GexConvention, 'gamma'>;

/** Names of conventions: choices that differ from those of captures. */
export const conventionPresets = {
  capture: {},
  vendor_profile: { unit: 'per_percent', gamma: 'vendor', years: 'weekdays_262', flip: 'repriced' },
  shares: { unit: 'shares' },
  traded: { weight: 'volume' },
  flow: { weight: 'volume', sign: 'by_flow' },
  zero_dte: { expiries: 'zero_dte' },
} as const satisfies Record<string, Partial<GexConvention>>;

export type ConventionPreset = keyof typeof conventionPresets;

/** The meaning of each choice of a convention, a sentence each. */
export const conventionTexts: {
  readonly [Name in keyof ConventionChoices]: Record<ConventionChoices[Name], string>;
} & Record<'expiries', Record<ExpirySet['expiries'], string>> = {
  unit: {
    per_dollar: 'Dollars that dealers trade to stay hedged when the underlying moves $1.',
    per_percent: 'Dollars that dealers trade to stay hedged when the underlying moves 1%.',
    shares: 'Shares that dealers trade to stay hedged when the underlying moves $1.',
  },
  weight: {
    open_interest: 'Open interest, as of the prior close.',
    volume: 'Contracts traded in the session so far.',
    open_interest_and_volume: 'Open interest plus the contracts traded in the session so far.',
  },
  sign: {
    calls_plus: 'Dealers are long calls and short puts.',
    by_flow:
      'Dealers are short the contracts bought and long the contracts sold in the session so far, calls and puts alike; sides are inferred from quotes.',
  },
  gamma: {
    solved: "The service's own gammas and volatilities, solved from option prices.",
    vendor: "The source's gammas and volatilities.",
  },
  years: {
    calendar: 'Time to expiry in days of 365, with rates and dividends. Concerns re-pricing only.',
    weekdays_262:
      'Weekdays to expiry, at least 1, of 262 a year, without rates and dividends. Concerns re-pricing only.',
  },
  flip: {
    cumulative: 'Price at which the exposure summed over strikes crosses zero. Nothing is re-priced.',
    repriced:
      'Price at which net gamma, re-priced at 60 levels from 0.8 to 1.2 of the price with volatilities fixed, is zero.',
  },
  walls: {
    net: 'Strikes with the largest positive and the most negative net exposure.',
    one_sided: 'Strikes with the largest exposure of calls and the largest absolute exposure of puts.',
  },
  expiries: {
    all: 'All expiries.',
    zero_dte: 'Contracts that end in the session of the capture.',
    within_days: 'Contracts that end within a number of days, withinDays.',
    monthly:
      'Monthly expiries: third Fridays, or for options on a volatility index 30 days before the third Friday of the next month.',
    list: 'The expiries in dates.',
  },
};

/** The meaning of each named convention. */
export const presetTexts: Record<ConventionPreset, string> = {
  capture: 'The convention of captures: dollars per $1 move, open interest, all expiries, cumulative flip.',
  vendor_profile:
    "Dollars per 1% move by the source's gammas; the flip is re-priced with weekdays and without rates. Reproduces figures published from the exchange's delayed quotes.",
  shares: 'The convention of captures in shares.',
  traded: 'The convention of captures with the volume of the session in place of open interest.',
  flow: 'The convention of captures, applied to the contracts bought less those sold in the session; dealers are short these.',
  zero_dte: 'The convention of captures for contracts that end in its session.',
};

function expiriesText({ expiries, withinDays, dates }: ExpirySet): string {
  if (expiries === 'within_days') return `Contracts that end within ${withinDays} days.`;
  return expiries === 'list' ? `${dates!.join(', ')}.` : conventionTexts.expiries[expiries];
}

/** A convention in words: a sentence or two for each choice. */
export function conventionInWords(convention: GexConvention): string {
  const { unit, weight, sign, gamma, years, flip, walls } = conventionTexts;
  const choices = [
    ['Unit', unit[convention.unit]],
    ['Weight', weight[convention.weight]],
    ['Sign', sign[convention.sign]],
    ['Gamma', gamma[convention.gamma]],
    ['Years', years[convention.years]],
    ['Flip', flip[convention.flip]],
    ['Walls', walls[convention.walls]],
    ['Expiries', expiriesText(convention)],
  ];
  return choices.map(([name, text]) => `${name}: ${text}`).join(' ');
}
