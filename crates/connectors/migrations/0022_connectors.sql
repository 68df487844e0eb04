-- Which connectors a tenant has: connectors.toml as it was applied, every version; the newest is in force. Nodes look
-- for versions they don't know, of all tenants.
CREATE SHARED TABLE connector_files VIA connectors (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  version INT NOT NULL,
  body JSON NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, version)
);

-- Every list of tools a connector has ever shown, by its hash. One that nobody has accepted keeps its connector at
-- looking only. body has a hash for each tool, to say which changed.
CREATE TENANT TABLE connector_manifests (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  connector TEXT NOT NULL,
  hash TEXT NOT NULL,
  server TEXT NOT NULL,
  version TEXT NOT NULL,
  body JSON NOT NULL,
  seen_at TIMESTAMP NOT NULL,
  accepted_at TIMESTAMP,
  accepted_by TEXT,
  PRIMARY KEY (tenant_id, connector, hash)
);

-- How each connector is, on each node that runs it; a row that was not renewed is of a node that is gone.
CREATE TENANT TABLE connector_states (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  connector TEXT NOT NULL,
  node UUID NOT NULL,
  body JSON NOT NULL,
  renewed_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, connector, node)
);
