import type { ExpirySet } from '../chain/expiry-set.ts';

/** Choices by which published figures of dealer gamma differ (methodology 11), besides that of the expiries. */
export const conventionChoices = {
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
  ...{ unit: 'per_dollar', weight: 'open_interest', sign: 'calls_plus', years: 'calendar' },
  ...{ flip: 'cumulative', walls: 'net', expiries: 'all', withinDays: null, dates: null },
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
