-- A channel may send one message in several, such as a long one. parts_sent says how many of them have left, so that none leaves twice.
ALTER TABLE outbox ADD COLUMN parts_sent INT NOT NULL DEFAULT 0;
