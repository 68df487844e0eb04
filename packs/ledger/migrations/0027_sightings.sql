-- By which messages a payment was seen: asked for each one that may be the same.
CREATE INDEX ledger_sightings_entry ON ledger_sightings (tenant_id, entry_id, fingerprint);
