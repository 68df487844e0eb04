-- What a tenant allows, every version as it was written; the newest is in force.
CREATE TENANT TABLE policies (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  version INT NOT NULL,
  body JSON NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, version)
);

-- Every act a model proposed, with what became of it. arguments are as proposed and never change: an approval is for
-- them. leaving is what a foreign tool is given, where that differs; proposal says for whom and on what it rests;
-- lease_until tells a running act from one whose process died.
CREATE TENANT TABLE acts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  run_id UUID,
  binding_id UUID,
  person_id UUID,
  session_id UUID,
  tool TEXT NOT NULL,
  connector TEXT NOT NULL,
  effect TEXT NOT NULL,
  arguments JSON NOT NULL,
  leaving JSON,
  proposal JSON NOT NULL,
  digest BYTES NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('refused', 'waiting', 'rehearsing', 'rehearsed', 'intended', 'applied', 'failed', 'unknown', 'dropped')),
  stage TEXT,
  code TEXT,
  reservation UUID,
  attempt INT NOT NULL,
  lease_until TIMESTAMP,
  began_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP,
  micros INT,
  result JSON,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX acts_run ON acts (tenant_id, run_id, began_at);
CREATE INDEX acts_newest ON acts (tenant_id, began_at, id);

-- Acts whose process may have died: looked at across tenants, since nobody else would.
CREATE SHARED TABLE act_leases VIA acts (
  tenant_id UUID NOT NULL,
  act_id UUID NOT NULL,
  lease_until TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, act_id)
);
CREATE INDEX act_leases_due ON act_leases (lease_until);

-- Questions to a person. kind 'act': may this be done? kind 'outcome': did this happen? An answer is given once, and a
-- yes is used once.
CREATE SHARED TABLE approvals VIA acts (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  act_id UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('act', 'outcome')),
  tool TEXT NOT NULL,
  scope TEXT NOT NULL,
  session_id UUID,
  asked_by UUID,
  words TEXT NOT NULL,
  question JSON NOT NULL,
  rehearsal JSON,
  digest BYTES NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'granted', 'refused', 'expired')),
  covers TEXT NOT NULL CHECK (covers IN ('act', 'session')),
  answered_by UUID,
  answered_via TEXT,
  asked_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP NOT NULL,
  answered_at TIMESTAMP,
  used_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, act_id) REFERENCES acts (tenant_id, id)
);
CREATE UNIQUE INDEX approvals_act ON approvals (tenant_id, act_id, kind);
CREATE INDEX approvals_due ON approvals (expires_at)
  WHERE used_at IS NULL AND (state = 'pending' OR (state = 'granted' AND kind = 'act'));
CREATE INDEX approvals_newest ON approvals (tenant_id, asked_at, id);
CREATE INDEX approvals_session ON approvals (tenant_id, session_id, tool) WHERE covers = 'session';
