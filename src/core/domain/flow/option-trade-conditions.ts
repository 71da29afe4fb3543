/**
 * Effects of the sale conditions of option prints on the figures. Ids are the vendor's numbers for OPRA's message types
 * (201 = A … 248 = v); eligibility as in OPRA's Pillar output specification, appendix "trade message types".
 */
export const optionTraits = {
  /** Counts in volume; sets high and low; sets open and close. */
  volume: 1,
  highLow: 2,
  openClose: 4,
  /** Withdraws an earlier print. */
  cancel: 8,
  /** A leg of a multi-leg or stock-tied trade. */
  multiLeg: 16,
  /** Multilateral compression: no trading interest, in no figure. */
  compression: 32,
  /** Late, cross or reopening: the quote of its instant does not determine its side. */
  sideless: 64,
  /** Executed against standing quotes, alone or as part of an intermarket sweep order. */
  sweepable: 128,
} as const;

const { volume, highLow, openClose, cancel, multiLeg, compression, sideless, sweepable } = optionTraits;
const eligible = volume | highLow | openClose;

/** Traits of a print without conditions. */
export const ordinaryOptionTraits: number = eligible | sweepable;

const table: readonly (readonly [id: number, name: string, traits: number])[] = [
  [201, 'Canceled', cancel],
  [202, 'Late and Out Of Sequence', sideless],
  [203, 'Last and Canceled', cancel],
  [204, 'Late', sideless],
  [205, 'Opening Trade and Canceled', cancel],
  [206, 'Opening Trade, Late, and Out Of Sequence', sideless],
  [207, 'Only Trade and Canceled', cancel],
  [208, 'Opening Trade and Late', eligible | sideless],
  [209, 'Automatic Execution', eligible | sweepable],
  [210, 'Reopening Trade', eligible | sideless],
  [219, 'Intermarket Sweep Order', eligible | sweepable],
  [227, 'Single Leg Auction Non ISO', eligible],
  [228, 'Single Leg Auction ISO', eligible | sweepable],
  [229, 'Single Leg Cross Non ISO', eligible | sideless],
  [230, 'Single Leg Cross ISO', eligible | sideless | sweepable],
  [231, 'Single Leg Floor Trade', eligible],
  [232, 'Multi Leg auto-electronic trade', eligible | multiLeg],
  [233, 'Multi Leg Auction', eligible | multiLeg],
  [234, 'Multi Leg Cross', eligible | multiLeg | sideless],
  [235, 'Multi Leg floor trade', eligible | multiLeg],
  [236, 'Multi Leg auto-electronic trade against single leg(s)', eligible | multiLeg],
  [237, 'Stock Options Auction', eligible | multiLeg],
  [238, 'Multi Leg Auction against single leg(s)', eligible | multiLeg],
  [239, 'Multi Leg floor trade against single leg(s)', eligible | multiLeg],
  [240, 'Stock Options auto-electronic trade', eligible | multiLeg],
  [241, 'Stock Options Cross', eligible | multiLeg | sideless],
  [242, 'Stock Options floor trade', eligible | multiLeg],
  [243, 'Stock Options auto-electronic trade against single leg(s)', eligible | multiLeg],
  [244, 'Stock Options Auction against single leg(s)', eligible | multiLeg],
  [245, 'Stock Options floor trade against single leg(s)', eligible | multiLeg],
  [246, 'Multi Leg Floor Trade of Proprietary Products', volume | multiLeg],
  [247, 'Multilateral Compression Trade of Proprietary Products', volume | compression],
  [248, 'Extended Hours Trade', volume],
];

const traitsById = new Uint8Array(256).fill(ordinaryOptionTraits);
for (const [id, , traits] of table) traitsById[id] = traits;

/** The vendor's condition ids with OPRA's names and their traits. @testonly */
export const optionTradeConditions: readonly { id: number; name: string; traits: number }[] = table.map(
  ([id, name, traits]) => ({ id, name, traits }),
);

/** Conditions of prints made in auctions. */
export const auctionConditions: readonly number[] = [227, 228, 233, 237, 238, 244];

const permissions = eligible | sweepable;

/**
 * The traits of a print: those that all of its conditions permit, and those that any of them sets. An unknown id
 * restricts nothing.
 */
export function optionTraitsOf(conditions: readonly number[]): number {
  if (conditions.length === 0) return ordinaryOptionTraits;
  if (conditions.length === 1) return traitsById[conditions[0]!] ?? ordinaryOptionTraits;
  let permitted = permissions;
  let said = 0;
  for (const id of conditions) {
    const traits = traitsById[id] ?? ordinaryOptionTraits;
    permitted &= traits;
    said |= traits;
  }
  return permitted | (said & ~permissions);
}
