-- What happened to a tier beside its new versions: archived, restored, or taken back to an older version. version is
-- the one in force afterwards; back_to is the one whose words it has. Never changed, never removed.
CREATE TENANT TABLE tier_events (
  tenant_id UUID NOT NULL,
  tier_id UUID NOT NULL,
  number INT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('archived', 'restored', 'rolled_back')),
  version INT NOT NULL,
  back_to INT,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, tier_id, number),
  FOREIGN KEY (tenant_id, tier_id) REFERENCES tiers (tenant_id, id)
);
