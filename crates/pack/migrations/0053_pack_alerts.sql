-- What packs' heartbeats found, each under its key. An alert is open until a beat comes without it; the same key later is
-- another alert. text is the phrase in English, for lists; phrase and slots are for other languages.
CREATE TENANT TABLE pack_alerts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  pack TEXT NOT NULL,
  heartbeat TEXT NOT NULL,
  key TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('notice', 'warning', 'urgent')),
  text TEXT NOT NULL,
  phrase TEXT NOT NULL,
  slots JSON NOT NULL,
  first_seen TIMESTAMP NOT NULL,
  last_seen TIMESTAMP NOT NULL,
  told_at TIMESTAMP,
  cleared_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX pack_alerts_open ON pack_alerts (tenant_id, pack, heartbeat, key) WHERE cleared_at IS NULL;
CREATE INDEX pack_alerts_newest ON pack_alerts (tenant_id, first_seen, id);
