-- How often something happened lately, by a hash of what is counted: nobody's address is kept here. All nodes count in
-- these rows. Times are microseconds, since they are reckoned with: all that was used is free again at free_at. most, period
-- and after_silence say the limit by which the row was counted last. Rows that are free again are swept at night.
CREATE SHARED TABLE rate_limits VIA limits (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  bucket TEXT NOT NULL,
  most INT NOT NULL CHECK (most > 0),
  period INT NOT NULL CHECK (period > 0),
  after_silence BOOL NOT NULL,
  uses INT NOT NULL,
  free_at INT NOT NULL,
  PRIMARY KEY (tenant_id, bucket)
);
