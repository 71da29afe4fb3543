/** The vendor's exchange id of prints reported to a FINRA facility: executed off exchange. */
export const finraExchange = 4;

/**
 * The exchange a stock's tape says it is listed on, as the vendor's exchange id: A is NYSE's, B (mostly funds) NYSE
 * Arca's, C Nasdaq's.
 */
const listingExchangeByTape: Record<number, number> = { 1: 10, 2: 11, 3: 12 };

/**
 * The listing exchange a tape (1, 2, 3) stands for; null when the tape is not known. The contract reference may know
 * better.
 */
export function listingExchangeOfTape(tape: number): number | null {
  return listingExchangeByTape[tape] ?? null;
}
