-- When a session last changed in what somebody sees who follows it: a message, a run that began or ended, who holds it. Nodes find by it
-- what others have changed. renumbered counts how often its messages got new numbers, since it became one with another: a number from
-- before means another message now.
ALTER TABLE sessions ADD COLUMN changed_at TIMESTAMP;
ALTER TABLE sessions ADD COLUMN renumbered INT NOT NULL DEFAULT 0;
CREATE INDEX sessions_changed ON sessions (changed_at) WHERE changed_at IS NOT NULL;
-- Which sessions have changed each node asks for all tenants at once. What was said in them it reads as their tenant.
-- only postgres
CREATE POLICY live ON sessions FOR SELECT USING ((SELECT current_setting('app.door', true)) = 'live');
-- both

-- How far somebody has read a session, as a visitor their own.
CREATE TENANT TABLE session_reads (
  tenant_id UUID NOT NULL,
  session_id UUID NOT NULL,
  person_id UUID NOT NULL,
  number INT NOT NULL,
  read_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, session_id, person_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
CREATE INDEX session_reads_person ON session_reads (tenant_id, person_id);

-- Who types in a session, and until when that counts.
CREATE TENANT TABLE typing_signs (
  tenant_id UUID NOT NULL,
  session_id UUID NOT NULL,
  person_id UUID NOT NULL,
  until TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, session_id, person_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
CREATE INDEX typing_signs_person ON typing_signs (tenant_id, person_id);
