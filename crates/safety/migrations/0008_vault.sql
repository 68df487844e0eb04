-- Which of the installation's keys wraps the tenants' keys, by its id; the key itself is never here. While the key is
-- being rotated, the one before is retiring.
CREATE PLATFORM TABLE vault_masters VIA vault (
  slot TEXT PRIMARY KEY CHECK (slot IN ('current', 'retiring')),
  key_id TEXT NOT NULL,
  since TIMESTAMP NOT NULL
);

-- A tenant's own key, wrapped by the installation's. Without its row nothing of the tenant's can be opened again.
-- tenant_id is all zeros for the installation's own secrets, so there is no foreign key.
CREATE SHARED TABLE vault_keys VIA vault (
  tenant_id UUID NOT NULL PRIMARY KEY,
  key_id TEXT NOT NULL,
  wrapped BYTES NOT NULL,
  made_at TIMESTAMP NOT NULL
);
CREATE INDEX vault_keys_master ON vault_keys (key_id);

-- Secrets, sealed by the tenant's key together with their tenant, name and version.
CREATE SHARED TABLE vault_secrets VIA vault (
  tenant_id UUID NOT NULL REFERENCES vault_keys (tenant_id),
  name TEXT NOT NULL,
  version INT NOT NULL,
  sealed BYTES NOT NULL,
  set_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, name)
);
