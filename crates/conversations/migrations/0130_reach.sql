-- Where somebody who works for the tenant is reached, and for what: for each kind of news their addresses in the order in which they are
-- tried. Who has no row is reached at their own e-mail.
CREATE TENANT TABLE reach_preferences (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  person_id UUID NOT NULL,
  body JSON NOT NULL,
  changed_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, person_id)
);
-- Who was told of what, and where: subject_id is an approval, an alert or a request for a human, recipient a keyed hash of the address, message_id what went
-- there. So nobody hears of one thing twice at one address. A row ends when there is nothing to tell any more. emptied_at
-- is since when the words of the message are kept no longer.
CREATE TENANT TABLE reach_notices (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  subject_id UUID NOT NULL,
  person_id UUID NOT NULL,
  recipient UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('approvals', 'alerts', 'requests')),
  message_id UUID NOT NULL,
  told_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP,
  emptied_at TIMESTAMP,
  PRIMARY KEY (tenant_id, subject_id, person_id, recipient)
);
CREATE INDEX reach_notices_open ON reach_notices (tenant_id, told_at) WHERE ended_at IS NULL;
CREATE INDEX reach_notices_told ON reach_notices (tenant_id, told_at);
CREATE INDEX reach_notices_said ON reach_notices (tenant_id, message_id) WHERE emptied_at IS NULL;
CREATE INDEX reach_notices_ended ON reach_notices (tenant_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX reach_notices_message ON reach_notices (tenant_id, message_id);
CREATE INDEX reach_notices_person ON reach_notices (tenant_id, person_id);
