/** The vendor's exchange id of prints reported to a FINRA facility: executed off exchange. */
export const finraExchange = 4;

/**
 * Listing exchange of a stock by its tape, as the vendor's exchange id: A is NYSE's, B (mostly funds) NYSE Arca's, C
 * Nasdaq's.
 */
const listingExchangeByTape: Record<number, number> = { 1: 10, 2: 11, 3: 12 };

/** The listing exchange of a tape (1, 2, 3); null for an unknown tape. The contract reference may be more precise. */
export function listingExchangeOfTape(tape: number): number | null {
  return listingExchangeByTape[tape] ?? null;
}
