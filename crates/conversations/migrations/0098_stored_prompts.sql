-- Prompts of models' calls, of tenants whose policy keeps them for some days: sealed by the key of the run's person. They go with their run,
-- with their person, and after their days.
CREATE TENANT TABLE stored_prompts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  call_id UUID NOT NULL,
  run_id UUID NOT NULL,
  body JSON NOT NULL,
  stored_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, call_id)
);
CREATE INDEX stored_prompts_run ON stored_prompts (tenant_id, run_id, stored_at, call_id);
CREATE INDEX stored_prompts_oldest ON stored_prompts (tenant_id, stored_at, call_id);
