-- When keys were last wrapped by another: what the one before wrapped may stand in the log and in rows that were removed, and each process
-- that sees this clears it away.
ALTER TABLE key_store ADD COLUMN rewrapped_at TIMESTAMP;
