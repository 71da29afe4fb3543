/**
 * Effects of the sale conditions of stock prints on the figures. Ids are the vendor's modifiers; eligibility is the
 * consolidated processing guideline of the CTA and UTP plans as the vendor publishes it.
 */
export const stockTraits = {
  /** Counts in volume; sets high and low; sets open and close. */
  volume: 1,
  highLow: 2,
  openClose: 4,
} as const;

const { volume, highLow, openClose } = stockTraits;
const all = volume | highLow | openClose;

const table: readonly (readonly [id: number, name: string, traits: number])[] = [
  [1, 'Acquisition', all],
  [2, 'Average Price Trade', volume],
  [3, 'Automatic Execution', all],
  [4, 'Bunched Trade', all],
  [5, 'Bunched Sold Trade', volume | highLow],
  [6, 'CAP Election', all],
  [7, 'Cash Sale', volume],
  [8, 'Closing Prints', all],
  [9, 'Cross Trade', all],
  [10, 'Derivatively Priced', volume | highLow],
  [11, 'Distribution', all],
  [12, 'Form T/Extended Hours', volume],
  [13, 'Extended Hours (Sold Out Of Sequence)', volume],
  [15, 'Market Center Official Close', 0],
  [16, 'Market Center Official Open', 0],
  [17, 'Market Center Opening Trade', all],
  [18, 'Market Center Reopening Trade', all],
  [19, 'Market Center Closing Trade', all],
  [20, 'Next Day', volume],
  [21, 'Price Variation Trade', volume],
  [22, 'Prior Reference Price', volume | highLow],
  [23, 'Rule 155 Trade (AMEX)', all],
  [24, 'Rule 127 (NYSE Only)', all],
  [25, 'Opening Prints', all],
  [27, 'Stopped Stock (Regular Trade)', all],
  [28, 'Re-Opening Prints', all],
  [29, 'Seller', volume],
  [30, 'Sold Last', all],
  [31, 'Sold Last and Stopped Stock', all],
  [32, 'Sold (Out Of Sequence)', volume | highLow],
  [33, 'Sold (Out of Sequence) and Stopped Stock', volume | highLow],
  [34, 'Split Trade', all],
  [35, 'Stock Option', all],
  [36, 'Yellow Flag Regular Trade', all],
  [37, 'Odd Lot Trade', volume],
  [38, 'Corrected Consolidated Close', highLow | openClose],
  [41, 'Trade Thru Exempt', all],
  [52, 'Contingent Trade', volume],
  [53, 'Qualified Contingent Trade', volume],
  [55, 'Opening Reopening Trade Detail', all],
];

/**
 * Conditions without an effect: a regular sale, an intermarket sweep. They restrict nothing and are not in the
 * reference.
 */
const regularSale = 0;
const intermarketSweep = 14;

/** The listing market's official close, and its closing auction's print. */
export const officialCloseCondition = 15;
export const closingTradeCondition = 19;

const traitsById = new Uint8Array(64).fill(all);
for (const [id, , traits] of table) traitsById[id] = traits;
const knownIds = new Set([regularSale, intermarketSweep, ...table.map(([id]) => id)]);

/** The vendor's condition ids with their names and traits. @testonly */
export const stockTradeConditions: readonly { id: number; name: string; traits: number }[] = table.map(
  ([id, name, traits]) => ({ id, name, traits }),
);

/** Traits of a print: the strictest of its conditions wins; an unknown id restricts nothing. */
export function stockTraitsOf(conditions: readonly number[]): number {
  let traits = all;
  for (let i = 0; i < conditions.length; i++) traits &= traitsById[conditions[i]!] ?? all;
  return traits;
}

const formT = 12;

/** Traits of a print of extended hours, whose price Form T does not exclude. */
export function extendedTraitsOf(conditions: readonly number[]): number {
  return stockTraitsOf(conditions.filter((id) => id !== formT));
}

/** Categories of off-exchange executions, in order of precedence (methodology 6). */
export const compositionCategories = [
  'average_price',
  'derivatively_priced',
  'package_price',
  'late_oos',
  'form_t',
  'odd_lot',
  'regular_way',
  'other',
] as const;
export type CompositionCategory = (typeof compositionCategories)[number];

const idsOfCategory: readonly (readonly [CompositionCategory, readonly number[]])[] = [
  ['average_price', [2]],
  ['derivatively_priced', [10]],
  ['package_price', [52, 53, 35]],
  ['late_oos', [13, 22, 30, 31, 32, 33]],
  ['form_t', [12]],
  ['odd_lot', [37]],
];

// The index into `compositionCategories` of a single id. Of a print's ids, the lowest index wins.
const regularWay = compositionCategories.indexOf('regular_way');
const other = compositionCategories.indexOf('other');
const categoryById = new Uint8Array(64).fill(other);
for (const id of knownIds) if (traitsById[id] === all) categoryById[id] = regularWay;
for (const [category, ids] of idsOfCategory) {
  for (const id of ids) categoryById[id] = compositionCategories.indexOf(category);
}

/**
 * The index into `compositionCategories` of an off-exchange print. Regular way is a print whose conditions are all
 * ordinary; one without a category (a cash sale, an unknown id) is `other`.
 */
export function compositionCategoryOf(conditions: readonly number[]): number {
  let first = regularWay;
  let unmapped = false;
  for (let i = 0; i < conditions.length; i++) {
    const category = categoryById[conditions[i]!] ?? other;
    if (category === other) unmapped = true;
    else if (category < first) first = category;
  }
  return first === regularWay && unmapped ? other : first;
}

/** True if prices of a category's prints are meaningful (methodology 6). */
export function isPriceForming(category: CompositionCategory): boolean {
  return category === 'regular_way' || category === 'odd_lot' || category === 'form_t';
}
