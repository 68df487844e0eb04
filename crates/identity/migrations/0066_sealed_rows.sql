-- How far the rows of before are sealed: for each table the last row that is done, and when the whole of it was.
CREATE SHARED TABLE sealed_rows VIA sealing (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  table_name TEXT NOT NULL,
  row_id UUID NOT NULL,
  row_number INT NOT NULL,
  done_at TIMESTAMP,
  PRIMARY KEY (tenant_id, table_name)
);
