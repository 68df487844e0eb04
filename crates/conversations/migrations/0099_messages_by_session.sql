-- The messages of a session by when they were said, for a search in somebody's: by their place in it they are not surely in that order.
CREATE INDEX messages_said ON messages (tenant_id, session_id, said_at, id);
