-- Acts that a turn no longer waits for. What comes of one is told in the conversation by the transaction that writes it
-- down, which also removes the row.
CREATE TENANT TABLE late_acts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  act_id UUID NOT NULL,
  run_id UUID NOT NULL,
  since TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, act_id)
);
