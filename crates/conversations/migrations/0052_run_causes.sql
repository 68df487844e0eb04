-- Runs begin by other causes than a message. cause says which; what belongs to a conversation (session_id, number, person_id,
-- message_id, channel) is there for every run that a message made, and for others only where they take part in one. cause_key is
-- what a cause is known by, so that it makes one run however often it is told. parent_id is the run that began this one;
-- principal is for whom it acts where nobody typed anything. lane and priority say among whom it waits for a place to be worked on in,
-- due_at when one that waits for a time goes on. result is what came of it, for whoever waits for that.
-- In messages, colleague is a person of the business who joined in, agent somebody else's.
-- only sqlite
CREATE TENANT TABLE messages_new (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  session_id UUID NOT NULL,
  number INT NOT NULL,
  run_id UUID NOT NULL,
  binding_id UUID NOT NULL,
  speaker TEXT NOT NULL CHECK (speaker IN ('person', 'persona', 'colleague', 'agent')),
  channel TEXT NOT NULL,
  outside_id TEXT,
  text TEXT NOT NULL,
  attached JSON NOT NULL,
  language TEXT,
  tokens INT NOT NULL,
  standing TEXT NOT NULL CHECK (standing IN ('whole', 'degraded', 'refused')),
  generation INT NOT NULL,
  marks JSON NOT NULL,
  suggestions JSON NOT NULL,
  said_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
INSERT INTO messages_new (tenant_id, id, session_id, number, run_id, binding_id, speaker, channel, outside_id, text, attached,
  language, tokens, standing, generation, marks, suggestions, said_at)
SELECT tenant_id, id, session_id, number, run_id, binding_id, speaker, channel, outside_id, text, attached,
  language, tokens, standing, generation, marks, suggestions, said_at FROM messages;
DROP TABLE messages;
ALTER TABLE messages_new RENAME TO messages;
CREATE UNIQUE INDEX messages_place ON messages (tenant_id, session_id, number);
CREATE INDEX messages_run ON messages (tenant_id, run_id);
CREATE INDEX messages_old ON messages (tenant_id, said_at, id);

CREATE SHARED TABLE runs_new VIA runs (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  session_id UUID,
  number INT,
  binding_id UUID,
  person_id UUID,
  message_id UUID,
  kind TEXT NOT NULL,
  channel TEXT,
  outside_id TEXT,
  reply_to JSON,
  state TEXT NOT NULL CHECK (state IN ('created', 'preparing', 'thinking', 'checking_safety', 'waiting_approval',
    'waiting_child', 'waiting_timer', 'acting', 'observing', 'responding', 'done', 'halted')),
  reason TEXT,
  epoch INT NOT NULL,
  lease_until TIMESTAMP,
  snapshot JSON NOT NULL,
  reservation UUID,
  reply_id UUID,
  cancel_asked BOOL NOT NULL,
  began_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP,
  key_use JSON,
  holder UUID,
  cause TEXT NOT NULL DEFAULT 'message' CHECK (cause IN ('message', 'clock', 'event', 'operation', 'run', 'agent')),
  cause_key TEXT,
  parent_id UUID,
  principal JSON,
  lane TEXT NOT NULL DEFAULT 'chat' CHECK (lane IN ('chat', 'background')),
  priority INT NOT NULL DEFAULT 0,
  due_at TIMESTAMP,
  result JSON,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT runs_conversation CHECK (cause <> 'message' OR (session_id IS NOT NULL AND number IS NOT NULL
    AND binding_id IS NOT NULL AND person_id IS NOT NULL AND message_id IS NOT NULL AND channel IS NOT NULL))
);
INSERT INTO runs_new (tenant_id, id, session_id, number, binding_id, person_id, message_id, kind, channel, outside_id, reply_to,
  state, reason, epoch, lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use, holder)
SELECT tenant_id, id, session_id, number, binding_id, person_id, message_id, kind, channel, outside_id, reply_to,
  state, reason, epoch, lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use, holder
FROM runs;
DROP TABLE runs;
ALTER TABLE runs_new RENAME TO runs;
CREATE INDEX runs_open ON runs (tenant_id, session_id, number) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX runs_outside ON runs (tenant_id, binding_id, channel, outside_id) WHERE outside_id IS NOT NULL;
CREATE INDEX runs_due ON runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX runs_waiting ON runs (began_at, id) WHERE state = 'waiting_approval';
CREATE INDEX runs_session ON runs (tenant_id, session_id, began_at, id);
CREATE INDEX runs_newest ON runs (tenant_id, began_at, id);

-- only postgres
ALTER TABLE messages DROP CONSTRAINT messages_speaker_check,
  ADD CONSTRAINT messages_speaker_check CHECK (speaker IN ('person', 'persona', 'colleague', 'agent'));
ALTER TABLE runs ALTER COLUMN session_id DROP NOT NULL, ALTER COLUMN number DROP NOT NULL,
  ALTER COLUMN binding_id DROP NOT NULL, ALTER COLUMN person_id DROP NOT NULL, ALTER COLUMN message_id DROP NOT NULL,
  ALTER COLUMN channel DROP NOT NULL,
  ADD COLUMN cause TEXT NOT NULL DEFAULT 'message' CHECK (cause IN ('message', 'clock', 'event', 'operation', 'run', 'agent')),
  ADD COLUMN cause_key TEXT,
  ADD COLUMN parent_id UUID,
  ADD COLUMN principal JSON,
  ADD COLUMN lane TEXT NOT NULL DEFAULT 'chat' CHECK (lane IN ('chat', 'background')),
  ADD COLUMN priority INT NOT NULL DEFAULT 0,
  ADD COLUMN due_at TIMESTAMP,
  ADD COLUMN result JSON,
  DROP CONSTRAINT runs_state_check,
  ADD CONSTRAINT runs_state_check CHECK (state IN ('created', 'preparing', 'thinking', 'checking_safety', 'waiting_approval',
    'waiting_child', 'waiting_timer', 'acting', 'observing', 'responding', 'done', 'halted'));
ALTER TABLE runs ADD CONSTRAINT runs_conversation CHECK (cause <> 'message' OR (session_id IS NOT NULL AND number IS NOT NULL
    AND binding_id IS NOT NULL AND person_id IS NOT NULL AND message_id IS NOT NULL AND channel IS NOT NULL));
DROP INDEX runs_queued;
-- both
CREATE INDEX runs_queued ON runs (tenant_id, session_id, began_at)
  WHERE state = 'created' AND lease_until IS NULL AND lane = 'chat';
CREATE UNIQUE INDEX runs_cause ON runs (tenant_id, kind, cause_key) WHERE cause_key IS NOT NULL;
CREATE INDEX runs_children ON runs (tenant_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX runs_timed ON runs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX runs_background ON runs (tenant_id, priority, began_at) WHERE lane = 'background' AND state = 'created'
  AND lease_until IS NULL;
