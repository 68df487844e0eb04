-- Nobody is reminded at one address twice in three days, of whatever.
CREATE INDEX outbox_reminders ON outbox (tenant_id, recipient) WHERE purpose = 'reminder' AND recipient IS NOT NULL;
