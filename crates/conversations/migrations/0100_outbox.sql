-- What leaves outside of a conversation, too: a reminder, an alert. Then session_id is NULL, and person_id says whose key seals it, where
-- the recipient is known. recipient is a keyed hash of the address, subject_id the record of a pack that it is sent to, about a keyed hash
-- of what it is about: nobody is reminded of one thing twice in a few days.
-- lane is what it leaves in the order of, its conversation or its address, and number its place there.
-- not_before is when it may leave, and waits_for why not sooner: a time that was asked for, a limit of the channel, or quiet hours.
-- account is what the tenant calls the account that sent it, receipt_key a keyed hash of what the channel calls it: by that it is found
-- when the channel says that it has arrived or was read.
-- only sqlite
CREATE TENANT TABLE outbox_new (
  tenant_id UUID NOT NULL,
  message_id UUID NOT NULL,
  session_id UUID,
  person_id UUID,
  subject_id UUID,
  binding_id UUID,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  purpose TEXT NOT NULL DEFAULT 'reply'
    CHECK (purpose IN ('reply', 'reminder', 'alert', 'code', 'colleague', 'notice')),
  recipient UUID,
  about UUID,
  lane UUID NOT NULL,
  number INT NOT NULL,
  body JSON NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'unknown', 'failed', 'cancelled')),
  attempts INT NOT NULL,
  not_before TIMESTAMP,
  waits_for TEXT CHECK (waits_for IN ('time', 'limit', 'hours')),
  account TEXT,
  receipt_key UUID,
  job UUID,
  detail TEXT,
  outside_id TEXT,
  made_at TIMESTAMP NOT NULL,
  sent_at TIMESTAMP,
  delivered_at TIMESTAMP,
  read_at TIMESTAMP,
  PRIMARY KEY (tenant_id, message_id)
);
INSERT INTO outbox_new (tenant_id, message_id, session_id, binding_id, channel, address, lane, number, body, state, attempts, job,
  detail, outside_id, made_at, sent_at)
SELECT o.tenant_id, o.message_id, o.session_id, m.binding_id, o.channel, o.address, o.session_id, m.number, o.body, o.state,
  o.attempts, o.job, o.detail, o.outside_id, o.made_at, o.sent_at
FROM outbox o JOIN messages m ON m.tenant_id = o.tenant_id AND m.id = o.message_id;
DROP TABLE outbox;
ALTER TABLE outbox_new RENAME TO outbox;

-- only postgres
ALTER TABLE outbox DROP CONSTRAINT outbox_tenant_id_message_id_fkey,
  ALTER COLUMN session_id DROP NOT NULL,
  ADD COLUMN person_id UUID,
  ADD COLUMN subject_id UUID,
  ADD COLUMN binding_id UUID,
  ADD COLUMN purpose TEXT NOT NULL DEFAULT 'reply'
    CHECK (purpose IN ('reply', 'reminder', 'alert', 'code', 'colleague', 'notice')),
  ADD COLUMN recipient UUID,
  ADD COLUMN about UUID,
  ADD COLUMN lane UUID,
  ADD COLUMN number INT,
  ADD COLUMN not_before TIMESTAMP,
  ADD COLUMN waits_for TEXT CHECK (waits_for IN ('time', 'limit', 'hours')),
  ADD COLUMN account TEXT,
  ADD COLUMN receipt_key UUID,
  ADD COLUMN delivered_at TIMESTAMP,
  ADD COLUMN read_at TIMESTAMP,
  DROP CONSTRAINT outbox_state_check,
  ADD CONSTRAINT outbox_state_check
    CHECK (state IN ('waiting', 'sending', 'sent', 'unknown', 'failed', 'cancelled'));
UPDATE outbox SET lane = outbox.session_id, number = m.number, binding_id = m.binding_id
FROM messages m WHERE m.tenant_id = outbox.tenant_id AND m.id = outbox.message_id;
ALTER TABLE outbox ALTER COLUMN lane SET NOT NULL, ALTER COLUMN number SET NOT NULL;
DROP INDEX outbox_unsent;
DROP INDEX outbox_session;

-- both
CREATE INDEX outbox_newest ON outbox (tenant_id, made_at, message_id);
CREATE INDEX outbox_unsent ON outbox (tenant_id, made_at, message_id) WHERE state <> 'sent';
CREATE INDEX outbox_lane ON outbox (tenant_id, lane, number, message_id) WHERE state IN ('waiting', 'sending');
CREATE INDEX outbox_about ON outbox (tenant_id, about) WHERE about IS NOT NULL;
CREATE INDEX outbox_receipt ON outbox (tenant_id, receipt_key) WHERE receipt_key IS NOT NULL;
CREATE INDEX outbox_person ON outbox (tenant_id, person_id, message_id) WHERE person_id IS NOT NULL;
CREATE INDEX outbox_subject ON outbox (tenant_id, subject_id, message_id) WHERE subject_id IS NOT NULL;

-- Who asked, by a word such as STOP, to be sent nothing but answers. recipient is a keyed hash of the address, message_id the message
-- that said so. It stays when they open again: then opened_at says since when.
CREATE TENANT TABLE opt_outs (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  recipient UUID NOT NULL,
  person_id UUID NOT NULL,
  channel TEXT NOT NULL,
  message_id UUID NOT NULL,
  opted_out_at TIMESTAMP NOT NULL,
  opened_at TIMESTAMP,
  PRIMARY KEY (tenant_id, recipient)
);
CREATE INDEX opt_outs_person ON opt_outs (tenant_id, person_id);
