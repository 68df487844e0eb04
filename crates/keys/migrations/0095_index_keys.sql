-- The key by which a tenant's search index hashes words. It is replaced, and for a moment there are two.
-- only sqlite
CREATE PLATFORM TABLE data_keys_new VIA keys (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('person', 'tenant', 'hash', 'index')),
  wrapped_by INT NOT NULL,
  wrapped BYTES NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
INSERT INTO data_keys_new (tenant_id, id, kind, wrapped_by, wrapped, made_at)
SELECT tenant_id, id, kind, wrapped_by, wrapped, made_at FROM data_keys;
DROP TABLE data_keys;
ALTER TABLE data_keys_new RENAME TO data_keys;
CREATE INDEX data_keys_wrapped_by ON data_keys (tenant_id, wrapped_by);

-- only postgres
ALTER TABLE data_keys DROP CONSTRAINT data_keys_kind_check,
  ADD CONSTRAINT data_keys_kind_check CHECK (kind IN ('person', 'tenant', 'hash', 'index'));
DROP INDEX data_keys_own;

-- both
CREATE UNIQUE INDEX data_keys_own ON data_keys (tenant_id, kind) WHERE kind IN ('tenant', 'hash');
