-- Whom was forgotten, is being forgotten, or is to be. persons and keys are ids; records are ids of what packs know of them, by pack. counts is
-- what went so far, by kind. The store of keys has the same list, without counts: it outlives this database.
CREATE SHARED TABLE erasures VIA erasures (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  persons JSON NOT NULL,
  keys JSON NOT NULL,
  records JSON NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at TIMESTAMP NOT NULL,
  destroyed_at TIMESTAMP,
  ended_at TIMESTAMP,
  counts JSON NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX erasures_newest ON erasures (tenant_id, asked_at, id);
CREATE INDEX erasures_open ON erasures (asked_at) WHERE ended_at IS NULL;
