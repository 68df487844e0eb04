-- Whether a tenant is paused decides about its acts, so its own transactions may see its own entry.
-- only postgres
CREATE POLICY own ON tenants FOR SELECT
  USING (id = (SELECT nullif(current_setting('app.tenant_id', true), '')::uuid));
-- both

-- Refused proposals past the rate of refusals, by whom they were made: counted here, and told to the audit together.
CREATE SHARED TABLE act_refusals VIA acts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  source TEXT NOT NULL,
  binding_id UUID,
  person_id UUID,
  refused INT NOT NULL CHECK (refused > 0),
  since TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, source)
);
CREATE INDEX act_refusals_due ON act_refusals (since);

-- When nobody answered in time, and whom the question went to then: a list of persons.
ALTER TABLE approvals ADD COLUMN escalated_at TIMESTAMP;
ALTER TABLE approvals ADD COLUMN escalated_to JSON;
