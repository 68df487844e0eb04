-- Administrative changes that a program asked for and a person decides on. Under all zeros stands what belongs to the
-- installation, so there is no foreign key. A proposal that was granted and not done yet is done again under its own id,
-- so it is carried out once. outcome is what came of it, or why not.
CREATE SHARED TABLE proposed_operations VIA proposals (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  operation TEXT NOT NULL,
  input JSON NOT NULL,
  asked_by TEXT NOT NULL,
  asked_key UUID NOT NULL,
  asked_at TIMESTAMP NOT NULL,
  ends_at TIMESTAMP NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'granted', 'done', 'failed', 'interrupted', 'refused')),
  decided_by TEXT,
  decided_at TIMESTAMP,
  outcome JSON,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX proposed_operations_asked ON proposed_operations (tenant_id, asked_at, id);
