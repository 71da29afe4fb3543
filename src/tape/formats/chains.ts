import { exchangeJson } from './exchange-json.ts';
import { exchangePage } from './exchange-page.ts';
import type { Format } from './format.ts';
import { massiveChain } from './massive.ts';
import { oratsStrikes } from './orats.ts';
import { thetaChain } from './theta.ts';
import { tradierChain } from './tradier.ts';
import { yfinanceChain } from './yfinance.ts';

/** The formats of option chains. */
export const chainFormats: readonly Format[] = [
  ...[exchangePage, exchangeJson, massiveChain, tradierChain, oratsStrikes, thetaChain, yfinanceChain],
];

/** The reason why a file that begins like this is not a chain. */
export function noChain(begins: string): string {
  const known = chainFormats.map(({ name, required }) => `${name} (${required.join(', ')})`);
  return `no format of chains fits: ${known.join(' or ')}; the file begins ${JSON.stringify(begins.slice(0, 120))}`;
}
