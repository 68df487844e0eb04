-- Where a contact is written to by mail.
ALTER TABLE ledger_contact_details ADD COLUMN email TEXT;
CREATE INDEX ledger_contact_details_email ON ledger_contact_details (tenant_id, email) WHERE email IS NOT NULL;
