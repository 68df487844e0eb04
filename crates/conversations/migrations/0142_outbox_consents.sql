-- The consent that a message went on which nobody had asked for, where its recipient had given one.
ALTER TABLE outbox ADD COLUMN consent_id UUID;
