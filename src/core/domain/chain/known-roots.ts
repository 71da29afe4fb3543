import type { RootEntry } from './root-entry.ts';

type Terms = Omit<RootEntry, 'root' | 'underlying' | 'multiplier' | 'deliverable' | 'onForwards' | 'from' | 'to'>;

const europeanAm: Terms = { style: 'european', settlement: 'am' };
const europeanPm: Terms = { style: 'european', settlement: 'pm' };
const americanPm: Terms = { style: 'american', settlement: 'pm' };

const entry = (root: string, underlying: string, terms: Terms, onForwards = false): RootEntry => ({
  root,
  underlying,
  ...terms,
  multiplier: 100,
  deliverable: 'standard',
  onForwards,
  from: null,
  to: null,
});

/**
 * Roots with well-known terms; a row of the dataset `roots` overrides one. Sources: the contract specifications of Cboe
 * and Nasdaq for their index options, and the OCC's convention for share classes.
 */
export const knownRoots: readonly RootEntry[] = [
  // S&P: the standard monthly root settles at the open, its weekly and daily twin at the close.
  entry('SPX', 'SPX', europeanAm),
  entry('SPXW', 'SPX', europeanPm),
  entry('XSP', 'XSP', europeanPm),
  entry('OEX', 'OEX', americanPm),
  entry('XEO', 'XEO', europeanPm),
  // Nasdaq-100: full size, a fifth and a hundredth.
  entry('NDX', 'NDX', europeanAm),
  entry('NDXP', 'NDX', europeanPm),
  entry('NQX', 'NQX', europeanPm),
  entry('XND', 'XND', europeanPm),
  // Russell: the 2000 in full and a tenth, the 1000 and its growth and value parts.
  entry('RUT', 'RUT', europeanAm),
  entry('RUTW', 'RUT', europeanPm),
  entry('MRUT', 'MRUT', europeanPm),
  entry('RUI', 'RUI', europeanAm),
  entry('RLG', 'RLG', europeanAm),
  entry('RLV', 'RLV', europeanAm),
  entry('DJX', 'DJX', europeanAm),
  // Volatility: both roots settle at the open, on a forward that parity with the spot does not bind.
  entry('VIX', 'VIX', europeanAm, true),
  entry('VIXW', 'VIX', europeanAm, true),
  // Shares whose ticker has a suffix.
  entry('BRKA', 'BRK.A', americanPm),
  entry('BRKB', 'BRK.B', americanPm),
  entry('BFA', 'BF.A', americanPm),
  entry('BFB', 'BF.B', americanPm),
];
