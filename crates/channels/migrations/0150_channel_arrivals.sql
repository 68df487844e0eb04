-- What providers told of a tenant's accounts, each once under the provider's own id (event_key, a keyed hash of it and the account). What has
-- one lane (a keyed hash, too) is taken in one after the other, as it happened. sender is a keyed hash of what the channel calls whoever it
-- came from, so that what waits goes when they are forgotten. The body goes when it was taken in.
CREATE TENANT TABLE channel_arrivals (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  account TEXT NOT NULL,
  event_key UUID NOT NULL,
  lane UUID NOT NULL,
  sender UUID,
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'taking', 'taken', 'passed_over', 'failed')),
  body TEXT,
  detail TEXT,
  job UUID,
  happened_at TIMESTAMP,
  received_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX channel_arrivals_event ON channel_arrivals (tenant_id, event_key);
CREATE INDEX channel_arrivals_lane ON channel_arrivals (tenant_id, lane) WHERE ended_at IS NULL;
CREATE INDEX channel_arrivals_ended ON channel_arrivals (ended_at) WHERE ended_at IS NOT NULL;

-- How each account is heard: whether its provider is asked (listens), where its provider was asked last, which node asks it and until when, when it was heard, and what is wrong with it.
CREATE SHARED TABLE channel_states VIA channel_listening (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  account TEXT NOT NULL,
  listens BOOL NOT NULL,
  cursor TEXT,
  holder UUID,
  held_until TIMESTAMP,
  heard_at TIMESTAMP,
  fault TEXT,
  fault_at TIMESTAMP,
  PRIMARY KEY (tenant_id, account)
);
