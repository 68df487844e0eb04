-- Since when whoever writes in a session waits for an answer; nobody does while it is NULL. awaits_colleague: for the person of the
-- business who has it in hand and nobody else, so that what the agent still finishes ends no such wait.
ALTER TABLE sessions ADD COLUMN waiting_since TIMESTAMP;
ALTER TABLE sessions ADD COLUMN awaits_colleague BOOL NOT NULL DEFAULT FALSE;

-- What the agent proposes to whoever has it in hand, and behind which message.
ALTER TABLE sessions ADD COLUMN draft TEXT;
ALTER TABLE sessions ADD COLUMN draft_after INT;
