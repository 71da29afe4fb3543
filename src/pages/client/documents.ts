/** The documents that pages send to the graph, beside the dashboard's. Where documents must be trusted, these are. */
export const pageDocuments = {
  landingQuotes: `query LandingQuotes($symbols: [Ticker!]!) {
  quotes(symbols: $symbols) {
    rows { symbol spot changePct sessionDate eventTsMs node { name gex { grid(top: 1) { netGex meta { date } } } } }
  }
}`,
  suggestSymbols: `query SuggestSymbols($search: String!) {
  symbols(first: 8, search: $search) { nodes { symbol name } }
}`,
} as const;
