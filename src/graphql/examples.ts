/** The questions users ask first, as GraphiQL's tabs. A test runs every one against the sample market. */
export const exampleTabs: { query: string; variables?: string }[] = [
  {
    query: `# Minute bars of one session, as rows and as columns. Paste your key below, under Headers.
query MinuteBars {
  symbol(symbol: "SPY") {
    bars(from: "2026-11-19T09:30", to: "2026-11-19T16:00", timeframe: "5m") {
      rows { tsMs open high low close volume vwap }
      meta { rowCount completeThrough cursor caps { applied tier } }
    }
  }
}
`,
  },
];
