-- Every attempt at a model, whatever came of it. tenant_id is all zeros for the installation's own calls, so there is
-- no foreign key; run and binding belong to floors above. cost is in millionths of a dollar, NULL where nobody knows
-- the price.
CREATE SHARED TABLE llm_calls VIA models (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  run_id UUID,
  binding_id UUID,
  purpose TEXT NOT NULL,
  target TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  attempt INT NOT NULL,
  outcome TEXT NOT NULL,
  is_failure BOOL NOT NULL,
  detail TEXT,
  request_id TEXT,
  input_tokens INT NOT NULL,
  output_tokens INT NOT NULL,
  cache_read_tokens INT NOT NULL,
  cache_write_5m_tokens INT NOT NULL,
  cache_write_1h_tokens INT NOT NULL,
  thinking_tokens INT NOT NULL,
  is_estimated BOOL NOT NULL,
  cost INT,
  first_token_micros INT,
  total_micros INT NOT NULL,
  started_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX llm_calls_newest ON llm_calls (tenant_id, started_at, id);
CREATE INDEX llm_calls_run ON llm_calls (tenant_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX llm_calls_recent ON llm_calls (started_at);

-- Vectors that were paid for once. Kept by tenant: who asked for a text before is nobody else's business.
CREATE TENANT TABLE embedding_cache (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  model TEXT NOT NULL,
  text_hash BYTES NOT NULL,
  dimension INT NOT NULL,
  vector BYTES NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, model, text_hash)
);
