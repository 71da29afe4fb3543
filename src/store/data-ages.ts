import type { SessionDate } from '../domain/market-time.ts';
import type { Store } from './connection.ts';

/** The newest instant of each kind of data of a session, epoch ms; null = none is stored. */
export interface NewestData {
  /** Prices of a live tape. */
  quotes: number | null;
  /** Option prints of a tape. */
  option_prints: number | null;
  chains: number | null;
  /** Minute bars of stocks. */
  bars: number | null;
}

// By the tables' keys, a look-up a registered symbol, so that the answer takes no longer where years are stored.
const text = `
  SELECT (SELECT max(event_ts_ms) FROM live_quotes WHERE session_date = $1) AS quotes,
    max(flow.at) AS option_prints, max(chain.at) AS chains, max(bars.at) AS bars
  FROM symbols
  LEFT JOIN LATERAL (SELECT observed_through_ms AS at FROM flow_coverage
    WHERE underlying = symbols.symbol AND session_date = $1) flow ON true
  LEFT JOIN LATERAL (SELECT captured_at AS at FROM chain_captures
    WHERE underlying = symbols.symbol AND session_date = $1 ORDER BY captured_at DESC LIMIT 1) chain ON true
  LEFT JOIN LATERAL (SELECT last_ts_ms AS at FROM bar_blocks
    WHERE symbol = symbols.symbol AND timeframe = '1m' AND span_start = $1) bars ON true
  WHERE symbols.registered`;

/** How far the stored data of a session goes. */
export async function newestData(store: Store, session: SessionDate): Promise<NewestData> {
  const { rows } = await store.pool.query<NewestData>({ name: 'newest-data', text, values: [session] });
  return rows[0]!;
}
