-- On a distributed PostgreSQL (Citus) a transaction that writes on one worker, and on the coordinator tables that Citus
-- does not know of, is committed on the worker first, and then on the coordinator: a crash in between leaves half of it.
-- A write through Citus on the coordinator, though it changes no row, has the worker prepare, and commit after the
-- coordinator.
DELETE FROM store_facts WHERE key = ''
