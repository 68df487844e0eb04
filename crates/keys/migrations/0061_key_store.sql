-- The store of keys is a database of its own: no copy of the main one contains a key. The main one names the id of the store
-- that its text is sealed by.
CREATE PLATFORM TABLE key_store VIA keys (
  slot INT PRIMARY KEY CHECK (slot = 1),
  id UUID NOT NULL,
  made_at TIMESTAMP NOT NULL
);

-- Which of the installation's keys tenants' new keys are wrapped by. Each row says by which it is.
CREATE PLATFORM TABLE key_masters VIA keys (
  slot TEXT PRIMARY KEY CHECK (slot = 'current'),
  master_id TEXT NOT NULL,
  since TIMESTAMP NOT NULL
);

-- A tenant's keys, which wrap those that seal: the one of the highest number is in use, and one before it only while what it
-- wraps is wrapped anew.
CREATE PLATFORM TABLE tenant_keys VIA keys (
  tenant_id UUID NOT NULL,
  number INT NOT NULL,
  master_id TEXT NOT NULL,
  wrapped BYTES NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, number)
);
CREATE INDEX tenant_keys_master ON tenant_keys (master_id);

-- The keys that seal: each person's, a tenant's own, and the one of its keyed hashes. Which person has which is written in the
-- main database, beside what is sealed.
CREATE PLATFORM TABLE data_keys VIA keys (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('person', 'tenant', 'hash')),
  wrapped_by INT NOT NULL,
  wrapped BYTES NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX data_keys_own ON data_keys (tenant_id, kind) WHERE kind <> 'person';
CREATE INDEX data_keys_wrapped_by ON data_keys (tenant_id, wrapped_by);

-- Keys that were destroyed: what is sealed by one is forgotten, not damaged, and no node keeps one in memory.
CREATE PLATFORM TABLE destroyed_keys VIA keys (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  destroyed_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX destroyed_keys_at ON destroyed_keys (destroyed_at);
