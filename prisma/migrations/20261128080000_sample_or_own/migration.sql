-- Simulated data is no longer set aside: a store is of the sample market or of its operator. The upgrade of its contents
-- reports the number of rows that were set aside, by table.
INSERT INTO "store_facts" ("key", "value")
SELECT 'sample_rows', json_object_agg(t.table_name, t.count)::text
FROM (SELECT table_name, count(*) AS count FROM "sample_rows" GROUP BY table_name) AS t
HAVING count(*) > 0;

DROP TABLE "sample_rows";
