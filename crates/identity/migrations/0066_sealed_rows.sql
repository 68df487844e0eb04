-- How far the rows of before are sealed: for each table the last row that is done, and when the whole of it was. The installation's own
-- rows are sealed as a tenant's are, so this names no row of tenants.
CREATE SHARED TABLE sealed_rows VIA sealing (
  tenant_id UUID NOT NULL,
  table_name TEXT NOT NULL,
  row_id UUID NOT NULL,
  row_number INT NOT NULL,
  done_at TIMESTAMP,
  PRIMARY KEY (tenant_id, table_name)
);
