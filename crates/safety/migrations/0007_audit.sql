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
-- Before, not after: a row that is replaced goes without its delete triggers where a connection has recursive_triggers
-- off. So an entry is refused that is not the next one, and a head that moves without an entry.
CREATE TRIGGER audit_entries_follow BEFORE INSERT ON audit_entries
WHEN NOT EXISTS (
  SELECT 1 FROM audit_heads WHERE tenant_id = NEW.tenant_id AND seq = NEW.seq - 1 AND hash = NEW.prev_hash
)
BEGIN SELECT RAISE(ABORT, 'audit_entries is append-only: this is not the next entry'); END;

CREATE TRIGGER audit_heads_begin BEFORE INSERT ON audit_heads
WHEN NEW.seq <> 0 OR NEW.hash <> zeroblob(32)
  OR EXISTS (SELECT 1 FROM audit_heads WHERE tenant_id = NEW.tenant_id)
  OR EXISTS (SELECT 1 FROM audit_entries WHERE tenant_id = NEW.tenant_id)
BEGIN SELECT RAISE(ABORT, 'audit_heads is append-only: a chain begins once, without entries'); END;

CREATE TRIGGER audit_heads_move BEFORE UPDATE ON audit_heads
WHEN NEW.tenant_id <> OLD.tenant_id OR NEW.seq <> OLD.seq + 1 OR NOT EXISTS (
  SELECT 1 FROM audit_entries WHERE tenant_id = NEW.tenant_id AND seq = NEW.seq AND hash = NEW.hash
)
BEGIN SELECT RAISE(ABORT, 'audit_heads is append-only: it moves with the next entry'); END;

CREATE TRIGGER audit_heads_stay BEFORE DELETE ON audit_heads
BEGIN SELECT RAISE(ABORT, 'audit_heads is append-only'); END;

CREATE TRIGGER audit_heads_follow AFTER INSERT ON audit_entries BEGIN
  UPDATE audit_heads SET seq = NEW.seq, hash = NEW.hash WHERE tenant_id = NEW.tenant_id;
END;
-- both
