-- Keys of whoever keeps the installation: they open what belongs to no tenant, and every tenant as its owner. handle is the
-- part of the text that may be seen; hash is the SHA-256 of the whole.
CREATE PLATFORM TABLE keeper_keys VIA keys (
  id UUID PRIMARY KEY,
  name TEXT NOT NULL,
  handle TEXT NOT NULL UNIQUE,
  hash BYTES NOT NULL,
  speaks_as TEXT NOT NULL CHECK (speaks_as IN ('person', 'program')),
  made_by TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP,
  last_used_at TIMESTAMP,
  revoked_at TIMESTAMP
);
CREATE UNIQUE INDEX keeper_keys_name ON keeper_keys (name) WHERE revoked_at IS NULL;
CREATE INDEX keeper_keys_made ON keeper_keys (made_at, id);
