/**
 * The first query of the README and `/`: for several symbols the price, the strike with the most dealer gamma with the
 * flow at it, and the latest block trade with the greeks of its contract. It contains no date, so it stays valid.
 */
export const firstQuery = `{
  quotes(symbols: ["SPY", "NVDA"]) {
    rows {
      symbol
      spot
      node {
        gex {
          grid(top: 1) {
            netGex
            strikes { strike gex flow { callPremiumUsd putPremiumUsd } }
          }
        }
        flow {
          largeTrades(kind: single_block, limit: 1) {
            events {
              update { event {
                premiumUsd
                side
                legs {
                  price
                  size
                  contract { id greeks { latest { iv delta } } }
                }
              } }
            }
          }
        }
      }
    }
  }
}`;

/** The REST request beside it: path and query. */
export const firstRoute = '/v2/gex/SPY/grid?top=2';
