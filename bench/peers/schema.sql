-- The dashboard's data as ordinary row tables, with the indexes and functions that the peers' users would make.
CREATE SCHEMA peer;

CREATE TABLE peer.symbols (
  symbol text PRIMARY KEY
);

CREATE TABLE peer.quotes (
  symbol text PRIMARY KEY REFERENCES peer.symbols,
  spot float8,
  change_pct float8,
  volume float8,
  official_close float8,
  price float8,
  ts float8
);

CREATE TABLE peer.bars (
  symbol text NOT NULL REFERENCES peer.symbols,
  ts_ms float8 NOT NULL,
  open float8 NOT NULL,
  high float8 NOT NULL,
  low float8 NOT NULL,
  close float8 NOT NULL,
  volume float8 NOT NULL,
  vwap float8 NOT NULL,
  PRIMARY KEY (symbol, ts_ms)
);

CREATE TABLE peer.captures (
  id int PRIMARY KEY,
  symbol text NOT NULL REFERENCES peer.symbols,
  captured_at float8 NOT NULL,
  spot float8 NOT NULL,
  net_gex float8 NOT NULL,
  flip_point float8,
  UNIQUE (symbol, captured_at)
);

CREATE TABLE peer.strikes (
  capture_id int NOT NULL REFERENCES peer.captures,
  strike float8 NOT NULL,
  gex float8 NOT NULL,
  call_oi int NOT NULL,
  put_oi int NOT NULL,
  size float8 NOT NULL GENERATED ALWAYS AS (abs(gex)) STORED,
  PRIMARY KEY (capture_id, strike)
);
CREATE INDEX ON peer.strikes (capture_id, size DESC);

CREATE TABLE peer.expirations (
  symbol text NOT NULL REFERENCES peer.symbols,
  date text NOT NULL,
  PRIMARY KEY (symbol, date)
);

CREATE FUNCTION peer.symbols_bars_between(s peer.symbols, from_ms float8, to_ms float8) RETURNS SETOF peer.bars
LANGUAGE sql STABLE AS $$
  SELECT * FROM peer.bars WHERE symbol = s.symbol AND ts_ms >= from_ms AND ts_ms < to_ms ORDER BY ts_ms
$$;

CREATE FUNCTION peer.symbols_latest_capture(s peer.symbols) RETURNS peer.captures
LANGUAGE sql STABLE AS $$
  SELECT * FROM peer.captures WHERE symbol = s.symbol ORDER BY captured_at DESC LIMIT 1
$$;

CREATE FUNCTION peer.captures_top_strikes(c peer.captures, count int) RETURNS SETOF peer.strikes
LANGUAGE sql STABLE AS $$
  SELECT * FROM peer.strikes WHERE capture_id = c.id ORDER BY size DESC LIMIT count
$$;
