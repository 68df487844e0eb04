-- The key with which a key was made: it is revoked with that one.
ALTER TABLE api_keys ADD COLUMN parent UUID;
CREATE INDEX api_keys_parent ON api_keys (tenant_id, parent) WHERE parent IS NOT NULL AND revoked_at IS NULL;
