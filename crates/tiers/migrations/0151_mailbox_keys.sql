-- Mails lead to bindings, too: by the mailbox they are written to.
-- only sqlite
CREATE SHARED TABLE routing_keys_new VIA routing (
  kind TEXT NOT NULL CHECK (kind IN ('number', 'host', 'handle', 'model', 'mailbox')),
  address TEXT NOT NULL,
  tenant_id UUID NOT NULL,
  binding_id UUID NOT NULL,
  PRIMARY KEY (kind, address),
  FOREIGN KEY (tenant_id, binding_id) REFERENCES tiers (tenant_id, id)
);
INSERT INTO routing_keys_new (kind, address, tenant_id, binding_id)
  SELECT kind, address, tenant_id, binding_id FROM routing_keys;
DROP TABLE routing_keys;
ALTER TABLE routing_keys_new RENAME TO routing_keys;
CREATE INDEX routing_keys_binding ON routing_keys (tenant_id, binding_id);
-- only postgres
ALTER TABLE routing_keys DROP CONSTRAINT routing_keys_kind_check;
ALTER TABLE routing_keys ADD CONSTRAINT routing_keys_kind_check
  CHECK (kind IN ('number', 'host', 'handle', 'model', 'mailbox'));
-- both
