-- A changed event gets a new position.
INSERT INTO flow_feed (underlying, session_date, event_id, event_ts_ms, content)
SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::int8[]), unnest($5::text[])
ON CONFLICT (underlying, session_date, event_id) DO UPDATE
SET content = excluded.content, event_ts_ms = excluded.event_ts_ms, place = nextval('flow_feed_places')
WHERE flow_feed.content <> excluded.content
