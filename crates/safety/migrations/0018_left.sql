-- What was set aside for a call of a model says for which run: whoever takes the run up after a crash lets it go.
ALTER TABLE usage_reservations ADD COLUMN run_id UUID;
CREATE INDEX usage_reservations_run ON usage_reservations (tenant_id, run_id) WHERE run_id IS NOT NULL;

-- What a conversation waits for is asked with every message.
CREATE INDEX approvals_pending ON approvals (tenant_id, session_id) WHERE state = 'pending';
