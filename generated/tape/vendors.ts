// Made by `npm run generate`. Do not edit.
import type { Vendor } from '../../src/tape/formats/vendor.ts';
import { databento } from '../../src/tape/vendors/databento.ts';
import { massive } from '../../src/tape/vendors/massive.ts';
import { orats } from '../../src/tape/vendors/orats.ts';
import { theta } from '../../src/tape/vendors/theta.ts';
import { tradier } from '../../src/tape/vendors/tradier.ts';
import { yfinance } from '../../src/tape/vendors/yfinance.ts';

/** The vendors, by name. */
export const vendors: readonly Vendor[] = [databento, massive, orats, theta, tradier, yfinance];
