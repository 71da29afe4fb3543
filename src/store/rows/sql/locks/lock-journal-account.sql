SELECT id FROM journal_accounts WHERE account_id = $1 AND id = $2 FOR UPDATE
