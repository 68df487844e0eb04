-- What came by an account last, for whoever looks whether it is heard; and whose what waits or failed is, for when they are forgotten.
CREATE INDEX channel_arrivals_account ON channel_arrivals (tenant_id, account, received_at);
CREATE INDEX channel_arrivals_sender ON channel_arrivals (tenant_id, sender) WHERE sender IS NOT NULL;
