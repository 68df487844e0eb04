-- Who ended by the link in a mail what they had not asked for. They need not be anybody's person: recipient is a keyed hash of the
-- address, as in opt_outs. The row goes when START is written from there.
CREATE TENANT TABLE address_opt_outs (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  recipient UUID NOT NULL,
  opted_out_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, recipient)
);
