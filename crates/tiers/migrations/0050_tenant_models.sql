-- Which models answer a tenant for one use, where the installation's own choice is not to hold. models is a list of
-- names, the first choice first.
CREATE TENANT TABLE tenant_models (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  capability TEXT NOT NULL,
  models JSON NOT NULL,
  changed_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, capability)
);
