-- What happened, entry by entry, each holding the hash of the one before: a chain for every tenant, and one under all
-- zeros for the installation, so there is no foreign key. payload is canonical JSON and stays text: its bytes are hashed.
CREATE TENANT TABLE audit_entries APPEND ONLY (
  tenant_id UUID NOT NULL,
  seq INT NOT NULL,
  id UUID NOT NULL,
  made_at TIMESTAMP NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  event TEXT NOT NULL,
  subject TEXT NOT NULL,
  payload TEXT NOT NULL,
  prev_hash BYTES NOT NULL,
  hash BYTES NOT NULL,
  PRIMARY KEY (tenant_id, seq)
);

-- The end of each chain. Whoever appends locks its row, so that entries follow each other. Through the door it is seen
-- which chains have grown.
CREATE SHARED TABLE audit_heads VIA audit (
  tenant_id UUID NOT NULL PRIMARY KEY,
  seq INT NOT NULL,
  hash BYTES NOT NULL
);

-- only sqlite
CREATE TRIGGER audit_heads_follow AFTER INSERT ON audit_entries BEGIN
  UPDATE audit_heads SET seq = NEW.seq, hash = NEW.hash WHERE tenant_id = NEW.tenant_id;
END;
-- both
