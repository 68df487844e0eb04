-- What came from outside for packs, by a webhook or a poll, stored before anybody works on it. Within a pack's source an id of the
-- sender is taken once. The body goes a while after it was handled; the row stays, so that the same is not taken again.
CREATE SHARED TABLE pack_deliveries VIA deliveries (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  pack TEXT NOT NULL,
  source TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('webhook', 'poll')),
  name TEXT NOT NULL,
  received_at TIMESTAMP NOT NULL,
  headers JSON NOT NULL,
  body BYTES,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'handled')),
  handled_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX pack_deliveries_sender ON pack_deliveries (tenant_id, pack, source, sender_id);
CREATE INDEX pack_deliveries_handled ON pack_deliveries (handled_at) WHERE body IS NOT NULL;
