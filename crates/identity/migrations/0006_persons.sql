-- Everybody the tenant deals with or who works for it. role is NULL for those who don't. opened and closed are patterns
-- over scopes beyond what the role says; tags name the audiences a person belongs to.
CREATE TENANT TABLE persons (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  name TEXT NOT NULL,
  role TEXT CHECK (role IN ('owner', 'admin', 'staff', 'viewer')),
  opened JSON NOT NULL,
  closed JSON NOT NULL,
  tags JSON NOT NULL,
  language TEXT,
  made_at TIMESTAMP NOT NULL,
  left_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX persons_members ON persons (tenant_id, role, made_at, id) WHERE role IS NOT NULL;

-- How a person is reached. An address is one person's within a tenant; another tenant may know it as well.
CREATE TENANT TABLE person_addresses (
  tenant_id UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('phone', 'email', 'handle', 'channel')),
  address TEXT NOT NULL,
  person_id UUID NOT NULL,
  PRIMARY KEY (tenant_id, kind, address),
  FOREIGN KEY (tenant_id, person_id) REFERENCES persons (tenant_id, id)
);
CREATE INDEX person_addresses_person ON person_addresses (tenant_id, person_id);
