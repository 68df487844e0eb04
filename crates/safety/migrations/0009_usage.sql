-- The installation's own work is counted too, under a tenant_id of all zeros, so nothing here refers to tenants.

-- A tenant's plan; NULL is the installation's default. changes counts every change of plan or limits: a counter whose
-- limits are of another count takes them anew.
CREATE SHARED TABLE usage_plans VIA budget (
  tenant_id UUID NOT NULL PRIMARY KEY,
  plan TEXT CHECK (plan IN ('free', 'starter', 'pro', 'business')),
  changes INT NOT NULL,
  changed_at TIMESTAMP NOT NULL
);

-- Limits of a tenant's own, in place of those of its plan and of the settings. scope_id is all zeros where all of the
-- scope are meant; amount is NULL where there shall be no limit.
CREATE SHARED TABLE usage_limits VIA budget (
  tenant_id UUID NOT NULL,
  lane TEXT NOT NULL CHECK (lane IN ('people', 'background')),
  scope TEXT NOT NULL CHECK (scope IN ('tenant', 'binding', 'person')),
  scope_id UUID NOT NULL,
  period TEXT NOT NULL CHECK (period IN ('day', 'month')),
  measure TEXT NOT NULL CHECK (measure IN ('interactions', 'jobs', 'tokens', 'money')),
  amount INT CHECK (amount >= 0),
  PRIMARY KEY (tenant_id, lane, scope, scope_id, period, measure)
);

-- What a tenant, a binding or a person has used in a day or a month, what is set aside, and the limits of it: the ledger
-- and the gate in one row. Money is in millionths of a dollar. slot names the row in the order in which rows are locked.
CREATE SHARED TABLE usage_counters VIA budget (
  tenant_id UUID NOT NULL,
  slot TEXT NOT NULL,
  lane TEXT NOT NULL,
  scope TEXT NOT NULL,
  scope_id UUID NOT NULL,
  period TEXT NOT NULL,
  starts_on TEXT NOT NULL,
  ends_at TIMESTAMP NOT NULL,
  used_interactions INT NOT NULL,
  used_jobs INT NOT NULL,
  used_tokens INT NOT NULL,
  used_output INT NOT NULL,
  used_money INT NOT NULL,
  held_interactions INT NOT NULL CHECK (held_interactions >= 0),
  held_jobs INT NOT NULL CHECK (held_jobs >= 0),
  held_tokens INT NOT NULL CHECK (held_tokens >= 0),
  held_money INT NOT NULL CHECK (held_money >= 0),
  limit_interactions INT,
  limit_jobs INT,
  limit_tokens INT,
  limit_money INT,
  limits_from INT NOT NULL,
  PRIMARY KEY (tenant_id, slot)
);
CREATE INDEX usage_counters_days ON usage_counters (tenant_id, period, scope, starts_on);
CREATE INDEX usage_counters_old ON usage_counters (ends_at) WHERE period = 'day';

-- What is set aside and not yet settled; a settled row is removed. An expired one counts no more, and stays for a while
-- so that what it did spend can still be booked.
CREATE SHARED TABLE usage_reservations VIA budget (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  lane TEXT NOT NULL,
  binding_id UUID,
  person_id UUID,
  day TEXT NOT NULL,
  interactions INT NOT NULL,
  jobs INT NOT NULL,
  tokens INT NOT NULL,
  money INT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('held', 'expired')),
  expires_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX usage_reservations_held ON usage_reservations (tenant_id, expires_at) WHERE state = 'held';
CREATE INDEX usage_reservations_due ON usage_reservations (expires_at);

-- How often something may be done. full_at is the moment, in microseconds, at which all of it may be done again.
CREATE SHARED TABLE usage_rates VIA budget (
  tenant_id UUID NOT NULL,
  name TEXT NOT NULL,
  full_at INT NOT NULL,
  PRIMARY KEY (tenant_id, name)
);
CREATE INDEX usage_rates_full ON usage_rates (full_at);
