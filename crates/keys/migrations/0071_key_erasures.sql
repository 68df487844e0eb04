-- Whom was forgotten: it outlives the main database, whose older copies are told it again before they are served. body names ids of
-- the main database and nothing else.
CREATE PLATFORM TABLE key_erasures VIA keys (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  body JSON NOT NULL,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
