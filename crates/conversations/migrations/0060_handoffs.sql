-- Where a conversation is by now, where that is not the binding it began with: the place, and what was handed on with it.
ALTER TABLE sessions ADD COLUMN active JSON;
-- The handing on that brought it there: another may follow only upon this one.
ALTER TABLE sessions ADD COLUMN handoff_id UUID;

-- Every handing on of a conversation. from_place and to_place are a binding and, where another took over in it, a team.
CREATE TENANT TABLE handoffs (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  session_id UUID NOT NULL,
  run_id UUID,
  person_id UUID,
  destination TEXT NOT NULL,
  from_place JSON NOT NULL,
  to_place JSON NOT NULL,
  reason TEXT NOT NULL,
  summary TEXT NOT NULL,
  open_questions JSON NOT NULL,
  entities JSON NOT NULL,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX handoffs_oldest ON handoffs (tenant_id, at);
CREATE INDEX handoffs_session ON handoffs (tenant_id, session_id, at, id);
