-- What a program brought with a message: the conversation as it knows it, and tools of its own. The run reads it in place
-- of the session's history. body goes when the run ends. Where a model asked for the program's own tools the run has ended
-- all the same, and carried is what it had done: whoever comes back with the tools' answers goes on from there. Rows that
-- nobody came back for are removed after some days.
CREATE TENANT TABLE brought (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  run_id UUID NOT NULL,
  body JSON NOT NULL,
  carried JSON,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, run_id)
);
CREATE INDEX brought_old ON brought (tenant_id, at);
