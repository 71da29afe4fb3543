import type { FuzzRequest, Grammar } from './request.ts';
import { hostilePiece, hostileText, plausible } from './values.ts';

const options: Record<string, readonly string[]> = {
  quotes: ['', '', ':1m'],
  bars: ['', ':1m', ':5m', ':1d', ':x'],
  gex: ['', ':5', ':0', ':999999', ':1e3'],
  'large-trades': ['', ':0', ':250000', ':0.5', ':-1'],
  'cross-section': ['', ':x'],
  none: [''],
};

function topic({ random, today }: Grammar): string {
  if (random.once(10)) return hostileText(random).slice(0, 60);
  const kind = random.pick(Object.keys(options));
  const symbol = random.once(12) ? '*' : plausible(random, 'ticker', today);
  return random.once(6) ? symbol : `${kind}:${symbol}${random.pick(options[kind]!)}`;
}

/**
 * A request of `/v2/stream`: topics that are right, wrong, too many. One that opens is read up to its first events and
 * left.
 */
export function streamRequest(grammar: Grammar): FuzzRequest {
  const { random } = grammar;
  const topics = Array.from({ length: 1 + random.below(random.once(20) ? 80 : 3) }, () => topic(grammar)).join(',');
  const query = random.once(12) ? hostilePiece(random) : `topics=${encodeURIComponent(topics.toWellFormed())}`;
  return {
    kind: 'stream',
    method: 'GET',
    path: `/v2/stream?${query}`,
    headers: random.once(2) ? { accept: 'text/event-stream' } : {},
    credential: null,
    about: null,
  };
}
