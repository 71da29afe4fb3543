// Made by `npm run generate`. Do not edit.
import type { Vendor } from '../../src/intake/tape/formats/vendor.ts';
import { databento } from '../../src/intake/tape/vendors/databento.ts';
import { massive } from '../../src/intake/tape/vendors/massive.ts';
import { orats } from '../../src/intake/tape/vendors/orats.ts';
import { theta } from '../../src/intake/tape/vendors/theta.ts';
import { tradier } from '../../src/intake/tape/vendors/tradier.ts';
import { yfinance } from '../../src/intake/tape/vendors/yfinance.ts';

/** The vendors, by name. */
export const vendors: readonly Vendor[] = [databento, massive, orats, theta, tradier, yfinance];
