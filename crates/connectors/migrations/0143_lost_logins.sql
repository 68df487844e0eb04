-- Connectors whose service takes our login no more: since when, until somebody logs in again. id is that loss: another is another one.
CREATE TENANT TABLE lost_connector_logins (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  connector TEXT NOT NULL,
  id UUID NOT NULL,
  lost_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, connector)
);
