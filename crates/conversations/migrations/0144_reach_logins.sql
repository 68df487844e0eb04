-- Links by which a connector's login is renewed are told, too: then subject_id is the loss of it.
-- only sqlite
CREATE TENANT TABLE reach_notices_new (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  subject_id UUID NOT NULL,
  person_id UUID NOT NULL,
  recipient UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('approvals', 'alerts', 'requests', 'logins')),
  message_id UUID NOT NULL,
  told_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP,
  emptied_at TIMESTAMP,
  PRIMARY KEY (tenant_id, subject_id, person_id, recipient)
);
INSERT INTO reach_notices_new (tenant_id, subject_id, person_id, recipient, kind, message_id, told_at, ended_at, emptied_at)
SELECT n.tenant_id, n.subject_id, n.person_id, n.recipient, n.kind, n.message_id, n.told_at, n.ended_at, n.emptied_at
FROM reach_notices n;
DROP TABLE reach_notices;
ALTER TABLE reach_notices_new RENAME TO reach_notices;
CREATE INDEX reach_notices_open ON reach_notices (tenant_id, told_at) WHERE ended_at IS NULL;
CREATE INDEX reach_notices_told ON reach_notices (tenant_id, told_at);
CREATE INDEX reach_notices_said ON reach_notices (tenant_id, message_id) WHERE emptied_at IS NULL;
CREATE INDEX reach_notices_ended ON reach_notices (tenant_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX reach_notices_message ON reach_notices (tenant_id, message_id);
CREATE INDEX reach_notices_person ON reach_notices (tenant_id, person_id);

-- only postgres
ALTER TABLE reach_notices DROP CONSTRAINT reach_notices_kind_check,
  ADD CONSTRAINT reach_notices_kind_check CHECK (kind IN ('approvals', 'alerts', 'requests', 'logins'));
