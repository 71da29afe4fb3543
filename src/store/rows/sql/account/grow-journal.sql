INSERT INTO journal_sizes AS s (account_id, row_count) VALUES ($1, $2)
ON CONFLICT (account_id) DO UPDATE SET row_count = s.row_count + excluded.row_count
RETURNING row_count AS rows
