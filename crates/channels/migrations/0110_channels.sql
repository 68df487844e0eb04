-- Which accounts a tenant has at providers: channels.toml as it was applied, every version; the newest is in force. Passwords are in
-- the vault: the file names them.
CREATE TENANT TABLE channel_files (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  version INT NOT NULL,
  body JSON NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, version)
);
