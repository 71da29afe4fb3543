/*
 * Ids of exchanges in tapes, by publishers of Databento: those of stocks as the vendor of the tapes numbers them, those
 * of options 300 and the position of OPRA's letter in the alphabet.
 */

const publishersOf: Readonly<Record<number, readonly number[]>> = {
  // NYSE American, Nasdaq BX, NYSE National, EDGA, EDGX, NYSE Chicago, NYSE, NYSE Arca
  ...{ 1: [11, 78], 2: [3, 75, 86, 88], 3: [10, 13, 14, 40, 49, 63, 91], 7: [7, 73], 8: [8, 74] },
  ...{ 9: [12, 39, 48, 62], 10: [9, 44, 45, 53, 67, 92], 11: [43, 79] },
  // Nasdaq, LTSE, IEX, PSX, BYX, BZX, MIAX Pearl, MEMX
  ...{ 12: [2, 46, 47, 52, 66, 81], 14: [80], 15: [38, 41, 50, 64], 17: [4, 76, 87, 89], 18: [6, 72] },
  ...{ 19: [5, 71], 20: [16, 42, 51, 65], 21: [15, 77] },
  // FINRA's facilities
  4: [17, 18, 19, 54, 55, 56, 68, 69, 70, 82, 83],
  // Options, from NYSE American to BZX
  ...{ 300: [20], 301: [21], 302: [22], 303: [23], 304: [24], 307: [25], 308: [26], 309: [27], 312: [28] },
  ...{ 313: [29], 314: [30], 315: [31], 316: [32], 318: [61], 319: [33], 320: [37], 322: [34], 323: [35] },
  325: [36],
};

const exchanges = new Map<number, number>();
for (const [exchange, publishers] of Object.entries(publishersOf))
  for (const publisher of publishers) exchanges.set(publisher, Number(exchange));

/** FINRA's facilities: NYSE's, Nasdaq's of Carteret and of Chicago. */
const facilities = new Map([
  ...[19, 55, 69].map((publisher) => [publisher, 201] as const),
  ...[17, 54, 68, 82].map((publisher) => [publisher, 202] as const),
  ...[18, 56, 70, 83].map((publisher) => [publisher, 203] as const),
]);

const unknownExchange = 1000;

/** The id of a publisher's exchange in tapes; one of an unknown venue stays another than all. */
export function exchangeOf(publisher: number): number {
  return exchanges.get(publisher) ?? Math.min(unknownExchange + publisher, 65_535);
}

/** The facility to which a publisher's prints were reported; blank for an exchange. */
export function facilityOf(publisher: number): number | '' {
  return facilities.get(publisher) ?? '';
}
