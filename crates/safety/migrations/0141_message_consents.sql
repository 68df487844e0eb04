-- Consent to be written to without having asked is given by proving an address, or by the word that opens it again: then no question was
-- answered. recipient is a keyed hash of the address that it holds for, as in outbox; it holds for that one alone.
-- only sqlite
CREATE TENANT TABLE consents_new (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  person_id UUID NOT NULL,
  purpose TEXT NOT NULL,
  words TEXT NOT NULL,
  language TEXT,
  approval_id UUID,
  message_id UUID,
  given_via TEXT NOT NULL,
  given_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP NOT NULL,
  withdrawn_at TIMESTAMP,
  withdrawn_via TEXT,
  channel TEXT,
  key_id UUID,
  wording TEXT,
  recipient UUID,
  PRIMARY KEY (tenant_id, id)
);
INSERT INTO consents_new (tenant_id, id, person_id, purpose, words, language, approval_id, message_id, given_via, given_at, ends_at,
  withdrawn_at, withdrawn_via, channel, key_id, wording)
SELECT c.tenant_id, c.id, c.person_id, c.purpose, c.words, c.language, c.approval_id, c.message_id, c.given_via, c.given_at, c.ends_at,
  c.withdrawn_at, c.withdrawn_via, c.channel, c.key_id, c.wording
FROM consents c;
DROP TABLE consents;
ALTER TABLE consents_new RENAME TO consents;
CREATE INDEX consents_person ON consents (tenant_id, person_id, given_at, id);

-- only postgres
ALTER TABLE consents ALTER COLUMN approval_id DROP NOT NULL,
  ADD COLUMN recipient UUID;

-- both
CREATE INDEX consents_recipient ON consents (tenant_id, recipient, given_at, id) WHERE recipient IS NOT NULL;
