-- The parts of each contract's session beyond its last one.
DELETE FROM option_quote_blocks AS b
USING (
  SELECT unnest($1::text[]) AS underlying, unnest($2::text[]) AS session_date, unnest($3::text[]) AS contract,
    unnest($4::int4[]) AS part
) AS w
WHERE b.underlying = w.underlying AND b.session_date = w.session_date AND b.contract = w.contract AND b.part > w.part
RETURNING b.underlying, b.session_date AS "sessionDate"
