-- Which store of keys this database's text is sealed by: without it, or with another one, nothing is served.
CREATE PLATFORM TABLE sealed_by VIA sealing (
  slot INT PRIMARY KEY CHECK (slot = 1),
  store_id UUID NOT NULL,
  since TIMESTAMP NOT NULL
);
