import {
  conventionInWords,
  conventionTexts,
  type GexConvention,
  presetTexts,
} from '../../core/domain/gex/convention.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';

const enums = {
  unit: builder.enumType('GexUnit', {
    description: 'Units of an exposure.',
    values: enumValues(conventionTexts.unit),
  }),
  weight: builder.enumType('GexWeight', {
    description: 'Contracts that an exposure counts.',
    values: enumValues(conventionTexts.weight),
  }),
  sign: builder.enumType('GexSign', {
    description: 'Assumptions about the side that dealers are on.',
    values: enumValues(conventionTexts.sign),
  }),
  gamma: builder.enumType('GexGamma', {
    description: 'Sources of gammas and volatilities. They are taken as stored; nothing is solved again.',
    values: enumValues(conventionTexts.gamma),
  }),
  years: builder.enumType('GexYears', {
    description: 'Ways to count the time to expiry when gammas are re-priced.',
    values: enumValues(conventionTexts.years),
  }),
  flip: builder.enumType('GexFlip', {
    description: 'Rules of the flip.',
    values: enumValues(conventionTexts.flip),
  }),
  walls: builder.enumType('GexWalls', {
    description: 'Rules of the walls.',
    values: enumValues(conventionTexts.walls),
  }),
  expiries: builder.enumType('GexExpirySet', {
    description: 'Sets of expiries.',
    values: enumValues(conventionTexts.expiries),
  }),
};

const PresetEnum = builder.enumType('GexConventionPreset', {
  description: 'Named conventions.',
  values: enumValues(presetTexts),
});

/** The argument by which a caller chooses a convention. */
export const GexConventionInput = builder.inputType('GexConvention', {
  description:
    'Convention of exposure figures: the choices by which published figures differ. Each is optional; the default is that of preset.',
  fields: (t) => ({
    preset: t.field({ type: PresetEnum, description: 'Default of the other choices. Default: capture.' }),
    unit: t.field({ type: enums.unit, description: 'Unit of net and of the strikes.' }),
    weight: t.field({ type: enums.weight, description: 'Contracts that are counted.' }),
    sign: t.field({ type: enums.sign, description: 'Side that dealers are on.' }),
    gamma: t.field({
      type: enums.gamma,
      description: "Source of gammas and volatilities. Default: the preset's, else that of the capture.",
    }),
    years: t.field({ type: enums.years, description: 'Time to expiry when gammas are re-priced.' }),
    flip: t.field({ type: enums.flip, description: 'Rule of the flip.' }),
    walls: t.field({ type: enums.walls, description: 'Rule of the walls.' }),
    expiries: t.field({ type: enums.expiries, description: 'Expiries that are counted. Default: all.' }),
    withinDays: t.int({
      description: 'Maximum number of days to expiry, 0 or more. Only with expiries: within_days, which it implies.',
    }),
    dates: t.field({
      type: ['SessionDate'],
      description: 'Expiry dates; unlisted ones are ignored. Only with expiries: list, which it implies.',
    }),
  }),
});

/** A convention as it was applied. */
export const AppliedConventionType = builder.objectRef<GexConvention>('AppliedGexConvention').implement({
  description: 'All choices of the convention of the figures.',
  fields: (t) => ({
    unit: t.expose('unit', { type: enums.unit, description: 'Unit of net and of the strikes.' }),
    weight: t.expose('weight', { type: enums.weight, description: 'Contracts that are counted.' }),
    sign: t.expose('sign', { type: enums.sign, description: 'Side that dealers are on.' }),
    gamma: t.expose('gamma', { type: enums.gamma, description: 'Source of gammas and volatilities.' }),
    years: t.expose('years', { type: enums.years, description: 'Time to expiry when gammas are re-priced.' }),
    flip: t.expose('flip', { type: enums.flip, description: 'Rule of the flip.' }),
    walls: t.expose('walls', { type: enums.walls, description: 'Rule of the walls.' }),
    expiries: t.expose('expiries', { type: enums.expiries, description: 'Expiries that are counted.' }),
    withinDays: t.exposeInt('withinDays', {
      nullable: true,
      description: 'Maximum number of days to expiry; null unless expiries is within_days.',
    }),
    dates: t.field({
      type: ['SessionDate'],
      nullable: true,
      size: { rows: 'expiries' },
      description: 'Requested expiry dates; null unless expiries is list.',
      resolve: ({ dates }) => dates && [...dates],
    }),
    words: t.string({
      size: { bytes: 800 },
      description: 'All choices in words.',
      resolve: conventionInWords,
    }),
  }),
});
