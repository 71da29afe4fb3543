import type { ExecutionArgs } from 'graphql';
import type { Caller } from '../access/caller.ts';

/** What a request must touch to be answered alike for everybody with the same rights: market data, and nothing of an account. */
export function isMarketData(groups: readonly string[]): boolean {
  return groups.length > 0 && groups.every((group) => group.startsWith('market.') || group.startsWith('analytics.'));
}

/**
 * The key under which an answer is kept, null where it may not be. Dashboards of many people ask the same thing over and
 * over: within a second, and while no market data changes, they get one answer. What decides over the caller is in the key.
 */
export function keptKey(
  caller: Caller,
  args: ExecutionArgs,
  source: string,
  groups: readonly string[],
  nowMs: number,
): string | null {
  if (!isMarketData(groups)) return null;
  const { kind, tier, siteTier, attested } = caller;
  return JSON.stringify([
    kind,
    tier,
    siteTier,
    attested,
    Math.floor(nowMs / 1000),
    args.operationName ?? null,
    args.variableValues ?? null,
    source,
  ]);
}
