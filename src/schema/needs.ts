import type { GraphQLField } from 'graphql';

/**
 * Requirements on a caller (contract-notes 1). `any`: a credential. `symbol`: a tier that reads the symbol, and the
 * declaration if the symbol requires it. `flow`: tier pro and the declaration, then the symbol's rule. `off-exchange`:
 * tier basic and the declaration, then the symbol's rule. `site-session`: a login, not an API key;
 * `declared-site-session`: a login with the declaration.
 */
export type Needs = 'any' | 'symbol' | 'flow' | 'off-exchange' | 'site-session' | 'declared-site-session';

/** Requirements of the data of each scope group. They document the rule; the resolvers enforce it. */
export const needsOfGroup: Readonly<Record<string, Needs>> = {
  'market.live': 'symbol',
  'market.bars': 'symbol',
  'analytics.gex': 'symbol',
  'analytics.vol': 'symbol',
  'analytics.flow': 'flow',
  'analytics.offexchange': 'off-exchange',
};

/** Requirements of a field of the graph. */
export function needsOf({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): Needs {
  const { needs: own, scopeGroup } = extensions as { needs?: Needs; scopeGroup?: string };
  return own ?? (scopeGroup === undefined ? 'any' : (needsOfGroup[scopeGroup] ?? 'any'));
}
