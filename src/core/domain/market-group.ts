/** True if a scope group of usage counts market data; false for what is an account's own. */
export function isMarketGroup(group: string): boolean {
  return group.startsWith('market.') || group.startsWith('analytics.');
}
