-- Messages that went without approval, by a template that the owner authorised for an audience: each act once. So many go in a day.
CREATE TENANT TABLE unasked_messages (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  act_id UUID NOT NULL,
  tool TEXT NOT NULL,
  template TEXT NOT NULL,
  audience TEXT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, act_id)
);
CREATE INDEX unasked_messages_newest ON unasked_messages (tenant_id, tool, made_at);
