-- sending_at is when a message was last begun to be sent: from then on somebody may have been reminded.
ALTER TABLE outbox ADD COLUMN sending_at TIMESTAMP;

-- What a channel said of a message before we had written down what it calls it. receipt_key is a keyed hash of that; it goes when the
-- message is settled; what was none of ours, when another comes an hour later.
CREATE TENANT TABLE early_receipts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  receipt_key UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('delivered', 'read', 'returned')),
  heard_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, receipt_key, kind)
);
CREATE INDEX early_receipts_heard ON early_receipts (tenant_id, heard_at);
