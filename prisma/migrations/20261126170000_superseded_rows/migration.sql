-- Rows that a later generation replaces are kept, so that data is served as it was known at an instant.
-- generation_ms: when the generation began that wrote the row, epoch ms; null = of before these were kept.
ALTER TABLE "splits" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "splits" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_splits" (LIKE "splits" INCLUDING STORAGE);
ALTER TABLE "superseded_splits" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_splits" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_splits" ADD CONSTRAINT "superseded_splits_pkey" PRIMARY KEY ("symbol", "ex_date", "generation_ms");

ALTER TABLE "dividends" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "dividends" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_dividends" (LIKE "dividends" INCLUDING STORAGE);
ALTER TABLE "superseded_dividends" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_dividends" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_dividends" ADD CONSTRAINT "superseded_dividends_pkey" PRIMARY KEY ("symbol", "ex_date", "kind", "generation_ms");

ALTER TABLE "volatility_days" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "volatility_days" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_volatility_days" (LIKE "volatility_days" INCLUDING STORAGE);
ALTER TABLE "superseded_volatility_days" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_volatility_days" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_volatility_days" ADD CONSTRAINT "superseded_volatility_days_pkey" PRIMARY KEY ("symbol", "date", "generation_ms");

ALTER TABLE "bar_blocks" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "bar_blocks" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_bar_blocks" (LIKE "bar_blocks" INCLUDING STORAGE);
ALTER TABLE "superseded_bar_blocks" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_bar_blocks" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_bar_blocks" ADD CONSTRAINT "superseded_bar_blocks_pkey" PRIMARY KEY ("symbol", "timeframe", "span_start", "generation_ms");

ALTER TABLE "option_bar_blocks" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "option_bar_blocks" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_option_bar_blocks" (LIKE "option_bar_blocks" INCLUDING STORAGE);
ALTER TABLE "superseded_option_bar_blocks" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_option_bar_blocks" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_option_bar_blocks" ADD CONSTRAINT "superseded_option_bar_blocks_pkey" PRIMARY KEY ("underlying", "session_date", "contract", "timeframe", "part", "generation_ms");

ALTER TABLE "live_quotes" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "live_quotes" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_live_quotes" (LIKE "live_quotes" INCLUDING STORAGE);
ALTER TABLE "superseded_live_quotes" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_live_quotes" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_live_quotes" ADD CONSTRAINT "superseded_live_quotes_pkey" PRIMARY KEY ("symbol", "generation_ms");

ALTER TABLE "chain_captures" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "chain_captures" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_chain_captures" (LIKE "chain_captures" INCLUDING STORAGE);
ALTER TABLE "superseded_chain_captures" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_chain_captures" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_chain_captures" ADD CONSTRAINT "superseded_chain_captures_pkey" PRIMARY KEY ("underlying", "captured_at", "generation_ms");

ALTER TABLE "gex_captures" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "gex_captures" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_gex_captures" (LIKE "gex_captures" INCLUDING STORAGE);
ALTER TABLE "superseded_gex_captures" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_gex_captures" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_gex_captures" ADD CONSTRAINT "superseded_gex_captures_pkey" PRIMARY KEY ("underlying", "captured_at", "generation_ms");

ALTER TABLE "open_interest_blocks" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "open_interest_blocks" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_open_interest_blocks" (LIKE "open_interest_blocks" INCLUDING STORAGE);
ALTER TABLE "superseded_open_interest_blocks" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_open_interest_blocks" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_open_interest_blocks" ADD CONSTRAINT "superseded_open_interest_blocks_pkey" PRIMARY KEY ("underlying", "session_date", "generation_ms");

ALTER TABLE "greeks_places" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "greeks_places" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_greeks_places" (LIKE "greeks_places" INCLUDING STORAGE);
ALTER TABLE "superseded_greeks_places" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_greeks_places" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_greeks_places" ADD CONSTRAINT "superseded_greeks_places_pkey" PRIMARY KEY ("underlying", "contract", "session_date", "generation_ms");

ALTER TABLE "greeks_minutes" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "greeks_minutes" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_greeks_minutes" (LIKE "greeks_minutes" INCLUDING STORAGE);
ALTER TABLE "superseded_greeks_minutes" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_greeks_minutes" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_greeks_minutes" ADD CONSTRAINT "superseded_greeks_minutes_pkey" PRIMARY KEY ("underlying", "session_date", "ts_ms", "generation_ms");

ALTER TABLE "flow_coverage" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "flow_coverage" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_flow_coverage" (LIKE "flow_coverage" INCLUDING STORAGE);
ALTER TABLE "superseded_flow_coverage" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_flow_coverage" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_flow_coverage" ADD CONSTRAINT "superseded_flow_coverage_pkey" PRIMARY KEY ("underlying", "session_date", "generation_ms");

ALTER TABLE "flow_events" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "flow_events" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_flow_events" (LIKE "flow_events" INCLUDING STORAGE);
ALTER TABLE "superseded_flow_events" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_flow_events" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_flow_events" ADD CONSTRAINT "superseded_flow_events_pkey" PRIMARY KEY ("underlying", "session_date", "event_id", "generation_ms");

ALTER TABLE "flow_legs" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "flow_legs" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_flow_legs" (LIKE "flow_legs" INCLUDING STORAGE);
ALTER TABLE "superseded_flow_legs" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_flow_legs" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_flow_legs" ADD CONSTRAINT "superseded_flow_legs_pkey" PRIMARY KEY ("underlying", "session_date", "event_id", "leg_index", "generation_ms");

ALTER TABLE "cross_sections" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "cross_sections" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_cross_sections" (LIKE "cross_sections" INCLUDING STORAGE);
ALTER TABLE "superseded_cross_sections" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_cross_sections" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_cross_sections" ADD CONSTRAINT "superseded_cross_sections_pkey" PRIMARY KEY ("underlying", "session_date", "generation_ms");

ALTER TABLE "ranked_prints" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "ranked_prints" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_ranked_prints" (LIKE "ranked_prints" INCLUDING STORAGE);
ALTER TABLE "superseded_ranked_prints" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_ranked_prints" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_ranked_prints" ADD CONSTRAINT "superseded_ranked_prints_pkey" PRIMARY KEY ("scope", "list", "session_date", "rank", "generation_ms");

ALTER TABLE "ranked_sessions" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "ranked_sessions" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_ranked_sessions" (LIKE "ranked_sessions" INCLUDING STORAGE);
ALTER TABLE "superseded_ranked_sessions" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_ranked_sessions" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_ranked_sessions" ADD CONSTRAINT "superseded_ranked_sessions_pkey" PRIMARY KEY ("scope", "list", "session_date", "generation_ms");

ALTER TABLE "contract_minute_blocks" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "contract_minute_blocks" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_contract_minute_blocks" (LIKE "contract_minute_blocks" INCLUDING STORAGE);
ALTER TABLE "superseded_contract_minute_blocks" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_contract_minute_blocks" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_contract_minute_blocks" ADD CONSTRAINT "superseded_contract_minute_blocks_pkey" PRIMARY KEY ("underlying", "session_date", "part", "generation_ms");

-- Transactions that wrote a generation, by when they began and committed, where these differ.
CREATE TABLE "generation_runs" (
    "begun_ms" BIGINT NOT NULL,
    "ended_ms" BIGINT NOT NULL,

    CONSTRAINT "generation_runs_pkey" PRIMARY KEY ("begun_ms")
);

-- Of a store that has data, nothing is known of before its last generation.
INSERT INTO store_facts (key, value)
SELECT 'known_from_ms', max(ms)::text FROM (
    SELECT greatest(max(ingested_ms), max(superseded_ms)) AS ms FROM generations
    UNION ALL SELECT max(ingested_at) FROM ingested_files
) AS written HAVING max(ms) IS NOT NULL;
