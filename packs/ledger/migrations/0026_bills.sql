-- What is known of a contact beside the account: the language they are written to in, and who they are to the tax office.
CREATE TENANT TABLE ledger_contact_details (
  tenant_id UUID NOT NULL,
  contact_id UUID NOT NULL,
  language TEXT,
  gstin TEXT,
  changed_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, contact_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES ledger_contacts (tenant_id, id)
);

-- The tax on an item from a day on, in hundredths of a percent. A bill takes the one that held on its day.
CREATE TENANT TABLE ledger_item_taxes (
  tenant_id UUID NOT NULL,
  item_id UUID NOT NULL,
  from_day INT NOT NULL,
  hsn TEXT NOT NULL,
  rate INT NOT NULL CHECK (rate BETWEEN 0 AND 10000),
  changed_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, item_id, from_day),
  FOREIGN KEY (tenant_id, item_id) REFERENCES ledger_items (tenant_id, id)
);

-- Links that show one document to whoever has them, until they end. The link's key is kept as its hash alone.
CREATE TENANT TABLE ledger_shares APPEND ONLY (
  tenant_id UUID NOT NULL,
  hash BYTES NOT NULL,
  document_id UUID NOT NULL,
  made_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, hash),
  FOREIGN KEY (tenant_id, document_id) REFERENCES ledger_documents (tenant_id, id)
);

-- only postgres
REVOKE DELETE ON ledger_contact_details, ledger_item_taxes FROM munshi_app;

-- only sqlite
CREATE TRIGGER ledger_contact_details_stay BEFORE DELETE ON ledger_contact_details BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_item_taxes_stay BEFORE DELETE ON ledger_item_taxes BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
-- both
