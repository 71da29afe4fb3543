import type { LevelKind } from '../../../core/domain/levels.ts';
import { signedDollars } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';

/** Names of levels in the text for chart platforms. */
const titles: Record<LevelKind, string> = {
  call_wall: 'Call wall',
  put_wall: 'Put wall',
  flip: 'Flip',
  zero_gamma: 'Zero gamma',
  max_pain: 'Max pain',
  expected_move_high: 'Expected move high',
  expected_move_low: 'Expected move low',
  sigma_move_high: 'Sigma move high',
  sigma_move_low: 'Sigma move low',
  off_exchange: 'Off-exchange',
};

interface Levels {
  symbol: string;
  levels: readonly { kind: LevelKind; price: number | null; rank: number | null }[];
}

/** Decimals of prices in the text. */
const decimals = 4;

/** One line, as indicators of chart platforms read it: the ticker, then name and price of each level that exists. */
function levelsText(data: unknown): string {
  const { symbol, levels } = data as Levels;
  const named = levels.flatMap(({ kind, price, rank }) =>
    price === null ? [] : [`${titles[kind]}${rank === null ? '' : ` ${rank}`}, ${Number(price.toFixed(decimals))}`],
  );
  return `${symbol}: ${named.join(', ')}\n`;
}

// Contract notes 8. Translates only: which levels, and entitlement, are the resolver's.
export const levels = route({
  path: '/v2/levels/:symbol',
  summary: 'Price levels',
  description:
    'Walls, flip, zero gamma, max pain, expected moves and off-exchange levels, each with its distance from the spot in dollars and percent, its capture and its status. basis adds dollars to each level, such as the difference between a future and its index; distances are from the spot without it. Levels that the account may not read are omitted and named in meta.restricted. format=text is one line for chart platforms: the ticker, then name and price of each level.',
  scopeGroup: 'analytics.gex',
  params: { basis: signedDollars.optional() },
  name: 'levels',
  operation: 'levels/levels.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { levels { spot levels { kind price distancePct status } } } }',
  answer: 'symbol.levels',
  text: levelsText,
  withoutTool: true,
  errors: [400, 403, 502, 503],
});
