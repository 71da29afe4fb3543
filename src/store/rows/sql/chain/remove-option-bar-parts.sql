-- The parts of each contract's session from one on. Part 0 is a whole session, not between −1 and 1.
DELETE FROM option_bar_blocks AS b
USING (
  SELECT unnest($1::text[]) AS underlying, unnest($2::text[]) AS session_date, unnest($3::text[]) AS contract,
    unnest($4::int4[]) AS part
) AS w
WHERE b.underlying = w.underlying AND b.session_date = w.session_date AND b.contract = w.contract
  AND b.part >= w.part AND b.part <> 0
