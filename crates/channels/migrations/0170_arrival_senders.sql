-- By what somebody is found who is forgotten: the keyed hashes that stand in person_addresses for every address that whoever wrote is
-- known to have. An older copy of the database finds by them what is theirs, though nothing of theirs opens there.
DROP INDEX channel_arrivals_sender;
ALTER TABLE channel_arrivals DROP COLUMN sender;
ALTER TABLE channel_arrivals ADD COLUMN senders JSON;
CREATE INDEX channel_arrivals_senders ON channel_arrivals (tenant_id) WHERE senders IS NOT NULL;
