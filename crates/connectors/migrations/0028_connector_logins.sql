-- Ways into a connector's service that somebody was offered or has begun, found by the hash of a text nobody can guess,
-- whichever tenant's they are: a link leads there, a state comes back from there, once. While a login is renewed its
-- row keeps others from renewing it too. No secret is here: what proves who began is in their browser.
CREATE SHARED TABLE connector_logins VIA connectors (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  hash BYTES NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('link', 'state', 'renewal')),
  connector TEXT NOT NULL,
  body JSON NOT NULL,
  expires_at TIMESTAMP NOT NULL,
  used_at TIMESTAMP,
  PRIMARY KEY (tenant_id, hash)
);
CREATE UNIQUE INDEX connector_logins_hash ON connector_logins (hash);
CREATE INDEX connector_logins_old ON connector_logins (tenant_id, expires_at);
