-- The first shape of the store: see prisma/schema.prisma for what each table holds.

CREATE TABLE "symbols" (
    "symbol" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "class" TEXT NOT NULL,
    "registered" BOOLEAN NOT NULL,
    "window_days" INTEGER NOT NULL,
    "tenor_frame" TEXT NOT NULL,
    "min_tier" TEXT NOT NULL,
    "requires_attestation" BOOLEAN NOT NULL,
    "sector" TEXT,
    "instrument_type" TEXT NOT NULL,
    CONSTRAINT "symbols_pkey" PRIMARY KEY ("symbol")
);

CREATE TABLE "option_roots" (
    "root" TEXT NOT NULL,
    "underlying" TEXT NOT NULL,
    "style" TEXT NOT NULL,
    "settlement" TEXT NOT NULL,
    "multiplier" INTEGER NOT NULL,
    "adjusted" BOOLEAN NOT NULL,
    CONSTRAINT "option_roots_pkey" PRIMARY KEY ("root")
);

CREATE TABLE "bar_blocks" (
    "symbol" TEXT NOT NULL,
    "timeframe" TEXT NOT NULL,
    "span_start" TEXT NOT NULL,
    "first_ts_ms" BIGINT NOT NULL,
    "last_ts_ms" BIGINT NOT NULL,
    "count" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "payload" BYTEA NOT NULL,
    CONSTRAINT "bar_blocks_pkey" PRIMARY KEY ("symbol", "timeframe", "span_start")
);

CREATE TABLE "option_bar_blocks" (
    "underlying" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "contract" TEXT NOT NULL,
    "timeframe" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "payload" BYTEA NOT NULL,
    CONSTRAINT "option_bar_blocks_pkey" PRIMARY KEY ("underlying", "session_date", "contract", "timeframe")
);

CREATE TABLE "live_quotes" (
    "symbol" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "spot" DOUBLE PRECISION NOT NULL,
    "event_ts_ms" BIGINT NOT NULL,
    "volume" BIGINT NOT NULL,
    "official_close" DOUBLE PRECISION,
    CONSTRAINT "live_quotes_pkey" PRIMARY KEY ("symbol")
);

CREATE TABLE "chain_captures" (
    "underlying" TEXT NOT NULL,
    "captured_at" BIGINT NOT NULL,
    "session_date" TEXT NOT NULL,
    "spot" DOUBLE PRECISION,
    "prior_close_spot" DOUBLE PRECISION,
    "partial" BOOLEAN NOT NULL,
    "row_count" INTEGER NOT NULL,
    "expirations" INTEGER[],
    "version" TEXT NOT NULL,
    "payload" BYTEA NOT NULL,
    CONSTRAINT "chain_captures_pkey" PRIMARY KEY ("underlying", "captured_at")
);

CREATE TABLE "gex_captures" (
    "underlying" TEXT NOT NULL,
    "captured_at" BIGINT NOT NULL,
    "session_date" TEXT NOT NULL,
    "spot" DOUBLE PRECISION,
    "prior_close_spot" DOUBLE PRECISION,
    "net_gex" DOUBLE PRECISION NOT NULL,
    "flip_point" DOUBLE PRECISION,
    "zero_gamma" DOUBLE PRECISION,
    "call_wall" INTEGER,
    "put_wall" INTEGER,
    "net_vanna" DOUBLE PRECISION,
    "net_charm" DOUBLE PRECISION,
    "gamma_source" TEXT NOT NULL,
    "oi_coverage" DOUBLE PRECISION NOT NULL,
    "contract_count" INTEGER NOT NULL,
    "gamma_absent" INTEGER NOT NULL,
    "methodology_version" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "strikes" BYTEA NOT NULL,
    "by_expiry" BYTEA NOT NULL,
    "expiries" BYTEA NOT NULL,
    CONSTRAINT "gex_captures_pkey" PRIMARY KEY ("underlying", "captured_at")
);

CREATE TABLE "open_interest_blocks" (
    "underlying" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "payload" BYTEA NOT NULL,
    CONSTRAINT "open_interest_blocks_pkey" PRIMARY KEY ("underlying", "session_date")
);

CREATE TABLE "greeks_blocks" (
    "underlying" TEXT NOT NULL,
    "contract" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "payload" BYTEA NOT NULL,
    CONSTRAINT "greeks_blocks_pkey" PRIMARY KEY ("underlying", "contract", "session_date")
);

CREATE TABLE "greeks_latest" (
    "underlying" TEXT NOT NULL,
    "contract" TEXT NOT NULL,
    "ts_ms" BIGINT NOT NULL,
    "iv" DOUBLE PRECISION,
    "delta" DOUBLE PRECISION,
    "gamma" DOUBLE PRECISION,
    "mark" DOUBLE PRECISION NOT NULL,
    "mark_source" TEXT NOT NULL,
    "bid" DOUBLE PRECISION,
    "ask" DOUBLE PRECISION,
    CONSTRAINT "greeks_latest_pkey" PRIMARY KEY ("underlying", "contract")
);

CREATE TABLE "flow_coverage" (
    "underlying" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "complete" BOOLEAN NOT NULL,
    "observed_from_ms" BIGINT NOT NULL,
    "observed_through_ms" BIGINT NOT NULL,
    "registry_version" INTEGER NOT NULL,
    "standard_multiplier_assumed" BOOLEAN NOT NULL,
    CONSTRAINT "flow_coverage_pkey" PRIMARY KEY ("underlying", "session_date")
);

CREATE TABLE "flow_events" (
    "underlying" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "event_kind" TEXT NOT NULL,
    "event_ts_ms" BIGINT NOT NULL,
    "total_size" BIGINT NOT NULL,
    "premium_usd" DOUBLE PRECISION NOT NULL,
    "price_low" DOUBLE PRECISION NOT NULL,
    "price_high" DOUBLE PRECISION NOT NULL,
    "side" TEXT NOT NULL,
    "multi_leg" BOOLEAN NOT NULL,
    CONSTRAINT "flow_events_pkey" PRIMARY KEY ("underlying", "session_date", "event_id")
);

CREATE TABLE "flow_legs" (
    "underlying" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "leg_index" INTEGER NOT NULL,
    "contract" TEXT NOT NULL,
    "price" DOUBLE PRECISION NOT NULL,
    "size" INTEGER NOT NULL,
    "premium_usd" DOUBLE PRECISION NOT NULL,
    "exchange" INTEGER NOT NULL,
    "conditions" INTEGER[],
    "event_ts_ms" BIGINT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "side" TEXT NOT NULL,
    "multi_leg" BOOLEAN NOT NULL,
    CONSTRAINT "flow_legs_pkey" PRIMARY KEY ("underlying", "session_date", "event_id", "leg_index")
);

CREATE TABLE "cross_sections" (
    "underlying" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "by_strike" BYTEA NOT NULL,
    "by_expiration" BYTEA NOT NULL,
    CONSTRAINT "cross_sections_pkey" PRIMARY KEY ("underlying", "session_date")
);

CREATE TABLE "ranked_prints" (
    "scope" TEXT NOT NULL,
    "list" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "rank" INTEGER NOT NULL,
    "print_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "underlying" TEXT NOT NULL,
    "contract" TEXT NOT NULL,
    "price" DOUBLE PRECISION NOT NULL,
    "size" BIGINT NOT NULL,
    "premium_usd" DOUBLE PRECISION NOT NULL,
    "exchange" INTEGER NOT NULL,
    "conditions" INTEGER[],
    "event_ts_ms" BIGINT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "coverage_status" TEXT NOT NULL,
    CONSTRAINT "ranked_prints_pkey" PRIMARY KEY ("scope", "list", "session_date", "rank")
);

CREATE TABLE "ranked_sessions" (
    "scope" TEXT NOT NULL,
    "list" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "coverage_status" TEXT NOT NULL,
    "scanned_at_ms" BIGINT NOT NULL,
    "source" TEXT NOT NULL,
    CONSTRAINT "ranked_sessions_pkey" PRIMARY KEY ("scope", "list", "session_date")
);

CREATE TABLE "off_exchange_sessions" (
    "symbol" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "as_of_ms" BIGINT NOT NULL,
    "suppressed_count" INTEGER NOT NULL,
    "suppressed_buckets" INTEGER NOT NULL,
    "off_exch_volume" DOUBLE PRECISION,
    "notional" DOUBLE PRECISION,
    "trade_count" BIGINT,
    "avg_size" DOUBLE PRECISION,
    "vwap" DOUBLE PRECISION,
    "off_exch_pct" DOUBLE PRECISION,
    "consolidated_volume" DOUBLE PRECISION,
    "consolidated_notional" DOUBLE PRECISION,
    CONSTRAINT "off_exchange_sessions_pkey" PRIMARY KEY ("symbol", "session_date")
);

CREATE TABLE "off_exchange_composition" (
    "symbol" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "category" TEXT NOT NULL,
    "volume" DOUBLE PRECISION NOT NULL,
    "notional" DOUBLE PRECISION NOT NULL,
    "trade_count" BIGINT NOT NULL,
    "share" DOUBLE PRECISION NOT NULL,
    CONSTRAINT "off_exchange_composition_pkey" PRIMARY KEY ("symbol", "session_date", "category")
);

CREATE TABLE "off_exchange_concentration" (
    "symbol" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "rank" INTEGER NOT NULL,
    "bucket_midpoint" DOUBLE PRECISION NOT NULL,
    "bucket_width" DOUBLE PRECISION NOT NULL,
    "volume" DOUBLE PRECISION NOT NULL,
    "notional" DOUBLE PRECISION NOT NULL,
    "trade_count" BIGINT NOT NULL,
    "distinct_sessions" INTEGER NOT NULL,
    "rank_score" DOUBLE PRECISION NOT NULL,
    "bucket_count" INTEGER NOT NULL,
    "distance_bps" DOUBLE PRECISION,
    "lookback_sessions" INTEGER NOT NULL,
    CONSTRAINT "off_exchange_concentration_pkey" PRIMARY KEY ("symbol", "session_date", "rank")
);

CREATE TABLE "off_exchange_profile" (
    "symbol" TEXT NOT NULL,
    "session_date" TEXT NOT NULL,
    "price_thousandths" BIGINT NOT NULL,
    "volume" DOUBLE PRECISION NOT NULL,
    "notional" DOUBLE PRECISION NOT NULL,
    "trade_count" BIGINT NOT NULL,
    CONSTRAINT "off_exchange_profile_pkey" PRIMARY KEY ("symbol", "session_date", "price_thousandths")
);

CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "site_tier" TEXT NOT NULL,
    "api_tier" TEXT NOT NULL,
    "classification" TEXT,
    "classified_at" BIGINT,
    "created_at" BIGINT NOT NULL,
    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "last_used_at" BIGINT,
    "expires_at" BIGINT,
    "revoked_at" BIGINT,
    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "usage_counts" (
    "account_id" TEXT NOT NULL,
    "date" TEXT NOT NULL,
    "scope_group" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    CONSTRAINT "usage_counts_pkey" PRIMARY KEY ("account_id", "date", "scope_group")
);

CREATE TABLE "watchlists" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "symbols" TEXT[],
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    CONSTRAINT "watchlists_pkey" PRIMARY KEY ("account_id", "id")
);

CREATE TABLE "journal_accounts" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "broker" TEXT,
    "created_at" BIGINT NOT NULL,
    CONSTRAINT "journal_accounts_pkey" PRIMARY KEY ("account_id", "id")
);

CREATE TABLE "journal_trades" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "journal_account_id" TEXT NOT NULL,
    "symbol" TEXT NOT NULL,
    "side" TEXT NOT NULL,
    "qty" DOUBLE PRECISION NOT NULL,
    "price" DOUBLE PRECISION NOT NULL,
    "ts_ms" BIGINT NOT NULL,
    "note" TEXT,
    "created_at" BIGINT NOT NULL,
    CONSTRAINT "journal_trades_pkey" PRIMARY KEY ("account_id", "id")
);

CREATE TABLE "journal_imports" (
    "account_id" TEXT NOT NULL,
    "import_id" TEXT NOT NULL,
    "created" INTEGER NOT NULL,
    "skipped" INTEGER NOT NULL,
    "errors" JSONB NOT NULL,
    "created_at" BIGINT NOT NULL,
    CONSTRAINT "journal_imports_pkey" PRIMARY KEY ("account_id", "import_id")
);

CREATE TABLE "ingested_files" (
    "dataset" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "rows" INTEGER NOT NULL,
    "ingested_at" BIGINT NOT NULL,
    CONSTRAINT "ingested_files_pkey" PRIMARY KEY ("dataset", "hash")
);

CREATE TABLE "store_facts" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    CONSTRAINT "store_facts_pkey" PRIMARY KEY ("key")
);

CREATE INDEX "option_roots_underlying_idx" ON "option_roots" ("underlying");
CREATE INDEX "option_bar_blocks_underlying_contract_session_date_idx" ON "option_bar_blocks" ("underlying", "contract", "session_date");
CREATE INDEX "chain_captures_underlying_session_date_captured_at_idx" ON "chain_captures" ("underlying", "session_date", "captured_at");
CREATE INDEX "gex_captures_underlying_session_date_captured_at_idx" ON "gex_captures" ("underlying", "session_date", "captured_at");
CREATE INDEX "flow_events_event_ts_ms_seq_idx" ON "flow_events" ("event_ts_ms" DESC, "seq" DESC);
CREATE INDEX "flow_events_underlying_event_ts_ms_seq_idx" ON "flow_events" ("underlying", "event_ts_ms" DESC, "seq" DESC);
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys" ("hash");
CREATE INDEX "api_keys_account_id_idx" ON "api_keys" ("account_id");
CREATE INDEX "journal_trades_account_id_ts_ms_idx" ON "journal_trades" ("account_id", "ts_ms");
