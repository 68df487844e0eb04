-- How far a pack's poll has read, in the words of whoever is asked. Moved in the transaction that stores what was read.
CREATE TENANT TABLE pack_cursors (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  pack TEXT NOT NULL,
  poll TEXT NOT NULL,
  cursor TEXT NOT NULL,
  moved_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, pack, poll)
);
