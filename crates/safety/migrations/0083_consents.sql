-- What people agreed to: for which purpose, in which words, until when. It is given by the person alone, with a message or on a page, and
-- good until its time is over or it is withdrawn, whichever comes first. approval_id is the question that it answered.
CREATE TENANT TABLE consents (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  person_id UUID NOT NULL,
  purpose TEXT NOT NULL,
  words TEXT NOT NULL,
  language TEXT,
  approval_id UUID NOT NULL,
  message_id UUID,
  given_via TEXT NOT NULL,
  given_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP NOT NULL,
  withdrawn_at TIMESTAMP,
  withdrawn_via TEXT,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX consents_person ON consents (tenant_id, person_id, given_at, id);

-- The consent that an act rests on, where its tool needs one.
ALTER TABLE acts ADD COLUMN consent_id UUID;
