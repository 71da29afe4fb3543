import { exchangeJson } from '../formats/exchange-json.ts';
import { exchangePage } from '../formats/exchange-page.ts';
import type { Format } from '../formats/format.ts';
import { massiveChain } from '../vendors/massive.ts';
import { oratsStrikes } from '../vendors/orats.ts';
import { thetaChain } from '../vendors/theta.ts';
import { tradierChain } from '../vendors/tradier.ts';
import { yfinanceChain } from '../vendors/yfinance.ts';

/** The formats of option chains. */
export const chainFormats: readonly Format[] = [
  ...[exchangePage, exchangeJson, massiveChain, tradierChain, oratsStrikes, thetaChain, yfinanceChain],
];

/** The reason why a file that begins like this is not a chain. */
export function noChain(begins: string): string {
  const known = chainFormats.map(({ name, required }) => `${name} (${required.join(', ')})`);
  return `no format of chains fits: ${known.join(' or ')}; the file begins ${JSON.stringify(begins.slice(0, 120))}`;
}
