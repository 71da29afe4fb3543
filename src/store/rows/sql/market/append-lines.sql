-- A record without further lines is appended to the part before it.
INSERT INTO followed_lines (source, session_date, through_line, payload) VALUES ($1, $2, $3, $4)
ON CONFLICT (source, session_date, through_line) DO UPDATE SET payload = followed_lines.payload || excluded.payload
