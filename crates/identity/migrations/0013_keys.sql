-- A visitor has proved no address yet. merged_into is whom somebody turned out to be: such a row does nothing more than
-- lead there, in one step, and never holds a role.
ALTER TABLE persons ADD COLUMN visitor BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE persons ADD COLUMN merged_into UUID CHECK (merged_into IS NULL OR (role IS NULL AND merged_into <> id));
CREATE INDEX persons_merged ON persons (tenant_id, merged_into) WHERE merged_into IS NOT NULL;

-- What lets a program in. A request brings a key and no tenant, so all are seen through the door. A key stands for a
-- role, or for a person with whatever standing they have at the time. areas and bindings are NULL where nothing is shut.
CREATE SHARED TABLE api_keys VIA keys (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  name TEXT NOT NULL,
  role TEXT CHECK (role IN ('owner', 'admin', 'staff', 'viewer')),
  person_id UUID,
  areas JSON,
  bindings JSON,
  made_by TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP,
  last_used_at TIMESTAMP,
  revoked_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CHECK ((role IS NULL) <> (person_id IS NULL)),
  FOREIGN KEY (tenant_id, person_id) REFERENCES persons (tenant_id, id)
);
CREATE INDEX api_keys_made ON api_keys (tenant_id, made_at, id);
CREATE UNIQUE INDEX api_keys_name ON api_keys (tenant_id, name) WHERE revoked_at IS NULL;

-- The secrets of a key: one, and for a while after a rotation the one before. handle is the part of the key's text that
-- may be seen; hash is the SHA-256 of the whole.
CREATE SHARED TABLE api_key_secrets VIA keys (
  handle TEXT PRIMARY KEY,
  tenant_id UUID NOT NULL,
  key_id UUID NOT NULL,
  hash BYTES NOT NULL,
  made_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP,
  FOREIGN KEY (tenant_id, key_id) REFERENCES api_keys (tenant_id, id)
);
CREATE INDEX api_key_secrets_key ON api_key_secrets (tenant_id, key_id);

-- Codes that prove an address, kept as a keyed hash. asker is the conversation or sign-in that asked; only it can answer.
CREATE TENANT TABLE one_time_codes (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('link', 'sign_in')),
  asker TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('phone', 'email', 'handle', 'channel')),
  address TEXT NOT NULL,
  hash BYTES NOT NULL,
  attempts INT NOT NULL CHECK (attempts BETWEEN 0 AND 5),
  made_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP NOT NULL,
  used_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX one_time_codes_address ON one_time_codes (tenant_id, kind, address, made_at);
CREATE INDEX one_time_codes_asker ON one_time_codes (tenant_id, asker, made_at);
CREATE INDEX one_time_codes_made ON one_time_codes (tenant_id, made_at);

-- A row for every address and asker that wanted a code. Whoever wants another holds it, so that two who ask at once are
-- counted one after the other.
CREATE TENANT TABLE code_turns (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  whose TEXT NOT NULL,
  asked_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, whose)
);
CREATE INDEX code_turns_asked ON code_turns (tenant_id, asked_at);
