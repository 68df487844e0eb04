-- Accounts of those who look after tenants through the web. password is an argon2 hash, NULL for those who sign in
-- elsewhere; issuer and subject say who they are there. A keeper looks after the installation and is owner of every
-- tenant. is_first marks who came by the first-run link: of two who use one at once, the index lets one in.
CREATE PLATFORM TABLE operators VIA operators (
  id UUID PRIMARY KEY,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  password TEXT,
  issuer TEXT,
  subject TEXT,
  keeper BOOL NOT NULL,
  is_first BOOL NOT NULL,
  made_at TIMESTAMP NOT NULL,
  removed_at TIMESTAMP
);
CREATE UNIQUE INDEX operators_email ON operators (email) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX operators_elsewhere ON operators (issuer, subject) WHERE removed_at IS NULL AND subject IS NOT NULL;
CREATE UNIQUE INDEX operators_first ON operators (is_first) WHERE is_first AND removed_at IS NULL;

-- What an operator is in a tenant.
CREATE SHARED TABLE operator_roles VIA operators (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  operator_id UUID NOT NULL REFERENCES operators (id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'staff', 'viewer')),
  given_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, operator_id)
);
CREATE INDEX operator_roles_operator ON operator_roles (operator_id);

-- Browsers in which somebody is signed in. hash is the SHA-256 of what the cookie holds; a row that ends goes. workspace
-- is the tenant whose pages were opened last.
CREATE PLATFORM TABLE sign_ins VIA operators (
  hash BYTES PRIMARY KEY,
  id UUID NOT NULL UNIQUE,
  operator_id UUID NOT NULL REFERENCES operators (id),
  workspace UUID,
  how TEXT NOT NULL CHECK (how IN ('password', 'link', 'oidc')),
  address TEXT NOT NULL,
  browser TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  seen_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP NOT NULL
);
CREATE INDEX sign_ins_operator ON sign_ins (operator_id, made_at);
CREATE INDEX sign_ins_end ON sign_ins (ends_at);

-- Browsers in which somebody has signed in before: pauses that strangers cause don't reach them.
CREATE PLATFORM TABLE known_browsers VIA operators (
  hash BYTES PRIMARY KEY,
  operator_id UUID NOT NULL REFERENCES operators (id),
  ends_at TIMESTAMP NOT NULL
);
CREATE INDEX known_browsers_end ON known_browsers (ends_at);
CREATE INDEX known_browsers_operator ON known_browsers (operator_id);

-- Links that let somebody in once: the first operator, whoever was invited, whoever lost their password.
CREATE PLATFORM TABLE one_time_links VIA operators (
  hash BYTES PRIMARY KEY,
  id UUID NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('first', 'invitation', 'recovery')),
  email TEXT,
  operator_id UUID REFERENCES operators (id),
  workspace UUID,
  role TEXT CHECK (role IN ('owner', 'admin', 'staff', 'viewer')),
  made_by TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP NOT NULL,
  used_at TIMESTAMP
);
CREATE INDEX one_time_links_made ON one_time_links (made_at);
CREATE INDEX one_time_links_workspace ON one_time_links (workspace, made_at);

-- How often somebody was wrong lately, and until when they wait. whose is a hash: nobody's address is kept here.
CREATE PLATFORM TABLE sign_in_pauses VIA operators (
  whose BYTES PRIMARY KEY,
  failures INT NOT NULL,
  last_at TIMESTAMP NOT NULL,
  free_at TIMESTAMP NOT NULL
);
CREATE INDEX sign_in_pauses_last ON sign_in_pauses (last_at);

-- Keys with which a host's own server says who its visitors are. value is a name in the vault, a public key as JWK, or an
-- address where such keys are. A key that is being replaced ends a while after its successor begins.
CREATE TENANT TABLE host_keys (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  kid TEXT NOT NULL,
  host TEXT NOT NULL,
  algorithm TEXT NOT NULL CHECK (algorithm IN ('HS256', 'RS256', 'ES256', 'EdDSA')),
  holds TEXT NOT NULL CHECK (holds IN ('secret', 'public', 'address')),
  value TEXT NOT NULL,
  added_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP,
  PRIMARY KEY (tenant_id, kid)
);
