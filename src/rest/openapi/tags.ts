import type { ScopeGroup } from '../contract/route.ts';

const descriptions: Record<Exclude<ScopeGroup, 'own'>, string> = {
  'market.reference': 'Symbols and expirations.',
  'market.live': 'Quotes, spot prices, option chains and the live stream.',
  'market.bars': 'OHLCV bars of stocks and option contracts.',
  'market.screener': 'Movers and sector averages.',
  'analytics.gex': 'Dealer gamma exposure.',
  'analytics.flow': 'Large option trades and cumulative option flow.',
  'analytics.vol': 'Implied volatility and greeks.',
  'analytics.offexchange': 'Off-exchange activity.',
  account: 'The account: usage, declaration, API keys.',
  watchlists: 'Watchlists of the account.',
  journal: 'The trade journal: accounts, trades and imports.',
};

/** The tags of the description, which are the groups that usage is counted under. */
export const tags = Object.entries(descriptions).map(([name, description]) => ({ name, description }));

/** The tag of the operator's routes. */
export const ownTag = { name: 'own', description: 'Routes of the operator of this gateway.' };
