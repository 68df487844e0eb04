-- What a key may be at most, for whom it talks, and who answers for it. speaks_as is 'person' where somebody types what
-- is sent with it, 'program' where words may be a model's. ceiling and ceiling_opened are the role and the opened scopes
-- that the key's person had when it was made. maker is who made it, through however many keys; maker_person the person
-- whose key it was made with. A secret from before the key was rotated keeps those who answered for it then. speaks_assumed marks keys that were never asked for whom they talk.
ALTER TABLE api_keys ADD COLUMN speaks_as TEXT NOT NULL DEFAULT 'program' CHECK (speaks_as IN ('person', 'program'));
ALTER TABLE api_keys ADD COLUMN speaks_assumed BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE api_keys ADD COLUMN ceiling TEXT CHECK (ceiling IN ('owner', 'admin', 'staff', 'viewer'));
ALTER TABLE api_keys ADD COLUMN ceiling_opened JSON;
ALTER TABLE api_keys ADD COLUMN maker TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN maker_person UUID;
ALTER TABLE api_key_secrets ADD COLUMN maker TEXT;
ALTER TABLE api_key_secrets ADD COLUMN maker_person UUID;
UPDATE api_keys SET maker = made_by, speaks_assumed = TRUE;
UPDATE api_keys SET
  speaks_as = 'person',
  ceiling = (SELECT p.role FROM persons p WHERE p.tenant_id = api_keys.tenant_id AND p.id = api_keys.person_id),
  ceiling_opened = (SELECT p.opened FROM persons p WHERE p.tenant_id = api_keys.tenant_id AND p.id = api_keys.person_id)
WHERE person_id IS NOT NULL;
CREATE INDEX api_keys_maker ON api_keys (tenant_id, maker) WHERE revoked_at IS NULL;
