-- A turn belongs to the day it was first decided on; changed_at says when its row was last written, so that a day which
-- was counted already is counted again. NULL in rows from before: they have not changed since.
ALTER TABLE decisions ADD COLUMN changed_at TIMESTAMP;
CREATE INDEX decisions_changed ON decisions (tenant_id, changed_at, at);

-- What the turns of one binding on one channel came to in one day of the tenant's zone. unpriced counts turns whose price
-- nobody knows; outcomes counts them by how they ended. histograms has one for each measure: how many values fell into
-- which bucket, and their sum. Everything in it can be added to another day's.
CREATE TENANT TABLE turn_days (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  day TEXT NOT NULL,
  binding_id UUID NOT NULL,
  channel TEXT NOT NULL,
  turns INT NOT NULL,
  degraded INT NOT NULL,
  model_calls INT NOT NULL,
  tool_calls INT NOT NULL,
  violations INT NOT NULL,
  cost INT NOT NULL,
  unpriced INT NOT NULL,
  outcomes JSON NOT NULL,
  histograms JSON NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, day, binding_id, channel)
);

-- How far a tenant's days are counted: whatever changed before made_at stands in turn_days.
CREATE TENANT TABLE turn_days_made (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id)
);
