-- Codes are counted by the mailbox behind an address too: mails to meera+1@… and meera+2@… come to one person. mailbox is the keyed hash
-- of the address without what follows the +; NULL where the code is from before.
ALTER TABLE one_time_codes ADD COLUMN mailbox TEXT;
CREATE INDEX one_time_codes_mailbox ON one_time_codes (tenant_id, mailbox, made_at) WHERE mailbox IS NOT NULL;
