-- One conversation of one person with one binding, whatever the channels. messages counts what was said and numbers the
-- next; everything up to number summarised stands in summary. reply_to is where an answer goes that nobody waits for;
-- masked is what the tokens of a cloud model stand for; tainted is whose words were read in it beside the person's own,
-- a bit each. A session that was merged into another leads there.
CREATE TENANT TABLE sessions (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  binding_id UUID NOT NULL,
  person_id UUID NOT NULL,
  channel TEXT NOT NULL,
  language TEXT,
  reply_to JSON,
  messages INT NOT NULL,
  summary TEXT,
  summarised INT NOT NULL,
  entities JSON NOT NULL,
  masked JSON,
  tainted INT NOT NULL,
  merged_into UUID,
  began_at TIMESTAMP NOT NULL,
  last_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES persons (tenant_id, id)
);
CREATE UNIQUE INDEX sessions_thread ON sessions (tenant_id, binding_id, person_id) WHERE merged_into IS NULL;
CREATE INDEX sessions_newest ON sessions (tenant_id, last_at, id);
CREATE INDEX sessions_merged ON sessions (tenant_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX sessions_person ON sessions (tenant_id, person_id);

-- What was said. outside_id is the channel's own id of what came in; its run remembers that it was taken. standing tells
-- a whole answer from an excuse (degraded: not billed) and from what was refused at the door and is not kept. generation
-- and marks are what a broken stream is taken up by: which beginning of the reply this is, and what stood between its
-- words.
CREATE TENANT TABLE messages (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  session_id UUID NOT NULL,
  number INT NOT NULL,
  run_id UUID NOT NULL,
  binding_id UUID NOT NULL,
  speaker TEXT NOT NULL CHECK (speaker IN ('person', 'persona')),
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
CREATE UNIQUE INDEX messages_place ON messages (tenant_id, session_id, number);
CREATE INDEX messages_run ON messages (tenant_id, run_id);
CREATE INDEX messages_old ON messages (tenant_id, said_at, id);

-- A turn's durable work. number is its message's place in the session: runs of one session follow each other by it.
-- outside_id is the channel's own id of the message: taken once, also after the message has gone to the archive.
-- epoch counts how often it was taken up: who holds an older one can write nothing more. lease_until is NULL while
-- nobody works on it: it waits for the turn before it, for a person, or has ended. reply_to is where this run's answer
-- goes when nobody waits for it.
CREATE SHARED TABLE runs VIA runs (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  session_id UUID NOT NULL,
  number INT NOT NULL,
  binding_id UUID NOT NULL,
  person_id UUID NOT NULL,
  message_id UUID NOT NULL,
  kind TEXT NOT NULL,
  channel TEXT NOT NULL,
  outside_id TEXT,
  reply_to JSON,
  state TEXT NOT NULL CHECK (state IN ('created', 'preparing', 'thinking', 'checking_safety', 'waiting_approval',
    'acting', 'observing', 'responding', 'done', 'halted')),
  reason TEXT,
  epoch INT NOT NULL,
  lease_until TIMESTAMP,
  snapshot JSON NOT NULL,
  reservation UUID,
  reply_id UUID,
  cancel_asked BOOL NOT NULL,
  began_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX runs_open ON runs (tenant_id, session_id, number) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX runs_outside ON runs (tenant_id, binding_id, channel, outside_id) WHERE outside_id IS NOT NULL;
CREATE INDEX runs_due ON runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX runs_queued ON runs (tenant_id, session_id, began_at) WHERE state = 'created' AND lease_until IS NULL;
CREATE INDEX runs_waiting ON runs (began_at, id) WHERE state = 'waiting_approval';
CREATE INDEX runs_session ON runs (tenant_id, session_id, began_at, id);
CREATE INDEX runs_newest ON runs (tenant_id, began_at, id);

-- Every transition of a run, in order.
CREATE TENANT TABLE run_steps (
  tenant_id UUID NOT NULL,
  run_id UUID NOT NULL,
  number INT NOT NULL,
  epoch INT NOT NULL,
  state TEXT NOT NULL,
  body JSON NOT NULL,
  micros INT NOT NULL,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, run_id, number)
);

-- A rule that a reply broke.
CREATE TENANT TABLE guardrail_violations (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  run_id UUID NOT NULL,
  binding_id UUID NOT NULL,
  rule TEXT NOT NULL,
  tier TEXT NOT NULL,
  severity TEXT NOT NULL,
  what TEXT NOT NULL,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX guardrail_violations_newest ON guardrail_violations (tenant_id, at, id);

-- One row a turn: what was decided and what it took. Times are in microseconds, by stage; tokens by tier of the prompt.
CREATE TENANT TABLE decisions (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  run_id UUID NOT NULL,
  session_id UUID NOT NULL,
  binding_id UUID NOT NULL,
  binding_version INT NOT NULL,
  human_version INT NOT NULL,
  team_version INT NOT NULL,
  agent_version INT NOT NULL,
  slice TEXT,
  channel TEXT NOT NULL,
  language TEXT,
  outcome TEXT NOT NULL,
  target TEXT,
  is_degraded BOOL NOT NULL,
  model_calls INT NOT NULL,
  tool_calls INT NOT NULL,
  violations INT NOT NULL,
  human_tokens INT NOT NULL,
  team_tokens INT NOT NULL,
  agent_tokens INT NOT NULL,
  dynamic_tokens INT NOT NULL,
  output_tokens INT NOT NULL,
  cost INT,
  ingest_micros INT NOT NULL,
  prepare_micros INT NOT NULL,
  think_micros INT NOT NULL,
  act_micros INT NOT NULL,
  check_micros INT NOT NULL,
  respond_micros INT NOT NULL,
  first_word_micros INT,
  total_micros INT NOT NULL,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, run_id)
);
CREATE INDEX decisions_newest ON decisions (tenant_id, at, run_id);

-- Messages that are sent, each once: its id is the key under which sending again is harmless. job is the job that sends
-- it: one that finds its own name beside 'sending' has died there before.
CREATE TENANT TABLE outbox (
  tenant_id UUID NOT NULL,
  message_id UUID NOT NULL,
  session_id UUID NOT NULL,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  body JSON NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'unknown', 'failed')),
  attempts INT NOT NULL,
  job UUID,
  detail TEXT,
  outside_id TEXT,
  made_at TIMESTAMP NOT NULL,
  sent_at TIMESTAMP,
  PRIMARY KEY (tenant_id, message_id),
  FOREIGN KEY (tenant_id, message_id) REFERENCES messages (tenant_id, id)
);
CREATE INDEX outbox_unsent ON outbox (tenant_id, made_at, message_id) WHERE state <> 'sent';
CREATE INDEX outbox_session ON outbox (tenant_id, session_id) WHERE state IN ('waiting', 'sending');
