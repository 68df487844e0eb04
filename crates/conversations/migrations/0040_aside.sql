-- What stands for messages of turns that have read other people's words, apart from the summary of all others: whose words
-- those were, a bit each. It goes when no such message has come since. sessions.tainted is what was known of a session before
-- each message told it of itself.
ALTER TABLE sessions ADD COLUMN aside TEXT;
ALTER TABLE sessions ADD COLUMN aside_tainted INT NOT NULL DEFAULT 0;
