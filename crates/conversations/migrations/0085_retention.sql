-- The runs of a person, for when they are told what is known about them, or are forgotten.
CREATE INDEX runs_person ON runs (tenant_id, person_id, id) WHERE person_id IS NOT NULL;

-- Whether what a run knew was taken out of it: of those past their time, the others alone are looked at. Nothing comes into such a run again.
ALTER TABLE runs ADD COLUMN emptied BOOL NOT NULL DEFAULT FALSE;
CREATE INDEX runs_whole ON runs (tenant_id, began_at, id) WHERE NOT emptied;

-- When it was last looked at what a tenant keeps no longer, by the clock of then. Where that is weeks before, the clock may be wrong: until
-- held_until nothing is deleted.
CREATE TENANT TABLE retention_checks (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  checked_at TIMESTAMP NOT NULL,
  held_until TIMESTAMP,
  PRIMARY KEY (tenant_id)
);
