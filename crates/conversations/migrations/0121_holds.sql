-- Who of the business has a conversation in hand, and since when. hold_id is that taking over: another is another one. Nobody's while NULL.
-- whispers counts what was whispered to the agent and no turn has read, so that a turn without any looks for none.
ALTER TABLE sessions ADD COLUMN held_by UUID;
ALTER TABLE sessions ADD COLUMN held_at TIMESTAMP;
ALTER TABLE sessions ADD COLUMN hold_id UUID;
ALTER TABLE sessions ADD COLUMN whispers INT NOT NULL DEFAULT 0;
CREATE INDEX sessions_held ON sessions (tenant_id, held_by) WHERE held_by IS NOT NULL;

-- Of our side's words, the person of the business who wrote them; NULL for the persona's own.
ALTER TABLE messages ADD COLUMN colleague_id UUID;

-- What colleagues tell the agent of a conversation. Apart from messages, so that no list of those can show one. number is the message it
-- was whispered behind, used_by_run the turn that was told it.
CREATE TENANT TABLE whispers (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  session_id UUID NOT NULL,
  number INT NOT NULL,
  author_id UUID NOT NULL,
  text TEXT NOT NULL,
  used_by_run UUID,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX whispers_session ON whispers (tenant_id, session_id, at, id);
CREATE INDEX whispers_oldest ON whispers (tenant_id, at);

-- Who asked for a human: the line. A session stands in it once at most. claimed_at says how long they waited, unless they were to be called
-- back (is_callback); callback_to is where, note what they left. merged is one of a session that became part of another that stood in it.
CREATE TENANT TABLE human_requests (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  session_id UUID NOT NULL,
  run_id UUID,
  team TEXT,
  reason TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'callback', 'held', 'answered', 'expired', 'merged')),
  is_callback BOOL NOT NULL DEFAULT FALSE,
  claimed_by UUID,
  callback_to JSON,
  note TEXT,
  asked_at TIMESTAMP NOT NULL,
  claimed_at TIMESTAMP,
  ended_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX human_requests_open ON human_requests (tenant_id, session_id) WHERE state IN ('waiting', 'callback', 'held');
CREATE INDEX human_requests_line ON human_requests (tenant_id, asked_at, id) WHERE state IN ('waiting', 'callback', 'held');
CREATE INDEX human_requests_claimed ON human_requests (tenant_id, claimed_at) WHERE claimed_at IS NOT NULL;
CREATE INDEX human_requests_oldest ON human_requests (tenant_id, asked_at);
CREATE INDEX human_requests_session ON human_requests (tenant_id, session_id);
