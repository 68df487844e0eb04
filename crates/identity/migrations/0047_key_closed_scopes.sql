-- The scopes that were closed to the key's person when it was made: they stay closed to it. For keys from before, those
-- that are closed now.
ALTER TABLE api_keys ADD COLUMN ceiling_closed JSON;
UPDATE api_keys SET
  ceiling_closed = (SELECT p.closed FROM persons p WHERE p.tenant_id = api_keys.tenant_id AND p.id = api_keys.person_id)
WHERE person_id IS NOT NULL;
