-- What stored data was made from, and what it took the place of.
CREATE TABLE "generations" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "dataset" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "instant_ms" BIGINT NOT NULL,
    "ingested_ms" BIGINT NOT NULL,
    "through_date" TEXT COLLATE "C" NOT NULL,
    "superseded_ms" BIGINT,
    "made" TEXT COLLATE "C" NOT NULL,
    "files" JSONB NOT NULL,
    "live_source" TEXT COLLATE "C",
    "from_line" BIGINT,
    "through_line" BIGINT,
    "methodology_version" TEXT COLLATE "C",
    "product_version" TEXT COLLATE "C",

    CONSTRAINT "generations_pkey" PRIMARY KEY ("symbol", "dataset", "session_date", "instant_ms", "ingested_ms")
);

-- Stored data of before has one generation: the files in force that name its session. Their hashes are not known. Tapes:
INSERT INTO generations (symbol, dataset, session_date, instant_ms, ingested_ms, through_date, made, files)
SELECT t.symbol, t.dataset, t.session_date, 0, max(f.ingested_at), t.session_date,
       CASE WHEN bool_or(f.dataset <> t.dataset) THEN 'reconciliation' ELSE 'file' END,
       jsonb_agg(jsonb_build_object('name', regexp_replace(
         CASE WHEN f.name ~ '^\w+://' THEN regexp_replace(f.name, '[?#].*$', '') ELSE f.name END, '^.*[/\\]', ''),
       'sha256', NULL, 'lines', NULL) ORDER BY f.ingested_at, f.name)
FROM ingested_files AS f CROSS JOIN LATERAL unnest(f.sessions) AS p(session)
JOIN tape_sessions AS t ON t.session_date = p.session AND f.dataset IN (t.dataset, 'reconcile ' || t.dataset)
GROUP BY t.symbol, t.dataset, t.session_date;

-- Bars that are of no tape:
INSERT INTO generations (symbol, dataset, session_date, instant_ms, ingested_ms, through_date, made, files)
SELECT b.symbol, f.dataset, b.session_date, 0, max(f.ingested_at), b.session_date, 'file',
       jsonb_agg(jsonb_build_object('name', regexp_replace(
         CASE WHEN f.name ~ '^\w+://' THEN regexp_replace(f.name, '[?#].*$', '') ELSE f.name END, '^.*[/\\]', ''),
       'sha256', NULL, 'lines', NULL) ORDER BY f.ingested_at, f.name)
FROM ingested_files AS f CROSS JOIN LATERAL unnest(f.sessions) AS p(session)
JOIN (SELECT DISTINCT symbol, span_start AS session_date FROM bar_blocks WHERE timeframe = '1m') AS b ON b.session_date = p.session
WHERE f.dataset = 'stock-minute-bars'
  AND NOT EXISTS (SELECT 1 FROM tape_sessions AS t
    WHERE t.symbol = b.symbol AND t.session_date = b.session_date AND t.dataset = 'stock-trades')
GROUP BY b.symbol, f.dataset, b.session_date;

-- Bars of contracts:
INSERT INTO generations (symbol, dataset, session_date, instant_ms, ingested_ms, through_date, made, files)
SELECT b.symbol, f.dataset, b.session_date, 0, max(f.ingested_at), b.session_date, 'file',
       jsonb_agg(jsonb_build_object('name', regexp_replace(
         CASE WHEN f.name ~ '^\w+://' THEN regexp_replace(f.name, '[?#].*$', '') ELSE f.name END, '^.*[/\\]', ''),
       'sha256', NULL, 'lines', NULL) ORDER BY f.ingested_at, f.name)
FROM ingested_files AS f CROSS JOIN LATERAL unnest(f.sessions) AS p(session)
JOIN (SELECT DISTINCT underlying AS symbol, session_date FROM option_bar_blocks WHERE status = 'eod_reconciled') AS b ON b.session_date = p.session
WHERE f.dataset = 'option-minute-bars'
  AND NOT EXISTS (SELECT 1 FROM tape_sessions AS t
    WHERE t.symbol = b.symbol AND t.session_date = b.session_date AND t.dataset = 'option-trades')
GROUP BY b.symbol, f.dataset, b.session_date;

-- Open interest:
INSERT INTO generations (symbol, dataset, session_date, instant_ms, ingested_ms, through_date, made, files)
SELECT b.symbol, f.dataset, b.session_date, 0, max(f.ingested_at), b.session_date, 'file',
       jsonb_agg(jsonb_build_object('name', regexp_replace(
         CASE WHEN f.name ~ '^\w+://' THEN regexp_replace(f.name, '[?#].*$', '') ELSE f.name END, '^.*[/\\]', ''),
       'sha256', NULL, 'lines', NULL) ORDER BY f.ingested_at, f.name)
FROM ingested_files AS f CROSS JOIN LATERAL unnest(f.sessions) AS p(session)
JOIN (SELECT DISTINCT underlying AS symbol, session_date FROM open_interest_blocks) AS b ON b.session_date = p.session
WHERE f.dataset = 'open-interest'
GROUP BY b.symbol, f.dataset, b.session_date;

-- Quotes of contracts:
INSERT INTO generations (symbol, dataset, session_date, instant_ms, ingested_ms, through_date, made, files)
SELECT b.symbol, f.dataset, b.session_date, 0, max(f.ingested_at), b.session_date, 'file',
       jsonb_agg(jsonb_build_object('name', regexp_replace(
         CASE WHEN f.name ~ '^\w+://' THEN regexp_replace(f.name, '[?#].*$', '') ELSE f.name END, '^.*[/\\]', ''),
       'sha256', NULL, 'lines', NULL) ORDER BY f.ingested_at, f.name)
FROM ingested_files AS f CROSS JOIN LATERAL unnest(f.sessions) AS p(session)
JOIN (SELECT DISTINCT underlying AS symbol, session_date FROM option_quote_blocks) AS b ON b.session_date = p.session
WHERE f.dataset = 'option-quotes'
GROUP BY b.symbol, f.dataset, b.session_date;

-- Chains know their file themselves:
INSERT INTO generations (symbol, dataset, session_date, instant_ms, ingested_ms, through_date, made, files)
SELECT c.underlying, 'chain', c.session_date, c.captured_at, max(f.ingested_at), c.session_date, 'file',
       jsonb_build_array(jsonb_build_object('name', c.file_name, 'sha256', c.file_hash, 'lines', NULL))
FROM ingested_files AS f CROSS JOIN LATERAL unnest(f.sessions) AS p(part)
JOIN chain_captures AS c ON p.part = c.underlying || ' ' || c.captured_at
WHERE f.dataset = 'chain' AND c.file_name IS NOT NULL
GROUP BY c.underlying, c.session_date, c.captured_at, c.file_name, c.file_hash;
