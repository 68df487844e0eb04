-- Every tenant of the installation. Rows are never deleted: an archived tenant keeps its name.
CREATE PLATFORM TABLE tenants VIA any (
  id UUID PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  zone TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
  created_at TIMESTAMP NOT NULL
);
CREATE INDEX tenants_newest ON tenants (created_at, id);
