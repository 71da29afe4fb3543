/** The documents that pages send to the graph, beside the dashboard's. Where documents must be trusted, these are. */
export const pageDocuments = {
  landingQuotes: `query LandingQuotes($symbols: [Ticker!]!) {
  quotes(symbols: $symbols) {
    rows { symbol spot changePct sessionDate eventTsMs node { name gex { latest(topStrikes: 1) { netGex sessionDate } } } }
  }
}`,
  suggestSymbols: `query SuggestSymbols($search: String!) {
  symbols(first: 8, search: $search) { nodes { symbol name } }
}`,
} as const;
