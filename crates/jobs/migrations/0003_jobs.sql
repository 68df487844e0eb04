-- Work to be done. A tenant enqueues its own; claiming and keeping order goes through the jobs door.
-- tenant_id is all zeros for the installation's own work, so there is no foreign key.
CREATE SHARED TABLE jobs VIA jobs (
  id UUID PRIMARY KEY,
  tenant_id UUID NOT NULL,
  kind TEXT NOT NULL,
  priority INT NOT NULL CHECK (priority BETWEEN 0 AND 2),
  payload JSON NOT NULL,
  unique_key TEXT,
  state TEXT NOT NULL CHECK (state IN ('scheduled', 'ready', 'running', 'done', 'dead')),
  run_at TIMESTAMP NOT NULL,
  attempt INT NOT NULL,
  max_attempts INT NOT NULL,
  lease UUID,
  lease_until TIMESTAMP,
  worker TEXT,
  last_error TEXT,
  created_at TIMESTAMP NOT NULL,
  finished_at TIMESTAMP
);
CREATE INDEX jobs_ready ON jobs (kind, priority, tenant_id, run_at, id) WHERE state = 'ready';
CREATE INDEX jobs_scheduled ON jobs (run_at) WHERE state = 'scheduled';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_done ON jobs (finished_at) WHERE state = 'done';
CREATE INDEX jobs_newest ON jobs (state, created_at, id);
CREATE UNIQUE INDEX jobs_unique ON jobs (tenant_id, kind, unique_key)
  WHERE unique_key IS NOT NULL AND state IN ('scheduled', 'ready', 'running');

-- What makes jobs by the clock. zone is NULL where the tenant's own counts.
CREATE SHARED TABLE job_schedules VIA jobs (
  tenant_id UUID NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  priority INT NOT NULL,
  payload JSON NOT NULL,
  rule TEXT NOT NULL,
  zone TEXT,
  next_at TIMESTAMP NOT NULL,
  last_at TIMESTAMP,
  PRIMARY KEY (tenant_id, name)
);
CREATE INDEX job_schedules_due ON job_schedules (next_at);
