-- Humans, teams, agents and bindings by name. version is the one in force, latest the newest there is. A name belongs
-- to one tier for good: archiving keeps it, and applying its file again brings it back.
CREATE TENANT TABLE tiers (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('human', 'team', 'agent', 'binding')),
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'archived')),
  version INT NOT NULL,
  latest INT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, kind, name)
);

-- Every version of every tier, as it was written. Never changed, never removed. tokens counts its text block by block.
CREATE TENANT TABLE tier_versions (
  tenant_id UUID NOT NULL,
  tier_id UUID NOT NULL,
  version INT NOT NULL,
  body JSON NOT NULL,
  tokens JSON NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, tier_id, version),
  FOREIGN KEY (tenant_id, tier_id) REFERENCES tiers (tenant_id, id)
);

-- Which address leads to which binding. A message comes with an address and no tenant, so all are seen through the
-- door; an address leads to one binding of all tenants. An archived binding keeps its own, to say that it is archived.
CREATE SHARED TABLE routing_keys VIA routing (
  kind TEXT NOT NULL CHECK (kind IN ('number', 'host', 'handle', 'model')),
  address TEXT NOT NULL,
  tenant_id UUID NOT NULL,
  binding_id UUID NOT NULL,
  PRIMARY KEY (kind, address),
  FOREIGN KEY (tenant_id, binding_id) REFERENCES tiers (tenant_id, id)
);
CREATE INDEX routing_keys_binding ON routing_keys (tenant_id, binding_id);

-- When each tenant's tiers last changed, in a count that the row of zeros keeps; nodes ask for what is past the count
-- they know. Whoever changes a tenant takes the count first, so numbers become visible in their order.
CREATE PLATFORM TABLE tier_changes VIA any (
  tenant_id UUID PRIMARY KEY,
  change INT NOT NULL
);
CREATE INDEX tier_changes_order ON tier_changes (change);
