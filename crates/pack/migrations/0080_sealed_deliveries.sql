-- What the sender calls a delivery, sealed; sender_id is a keyed hash of it then, and headers and body are sealed too. NULL in a row from
-- before that: there all of them stand plain.
ALTER TABLE pack_deliveries ADD COLUMN shown_sender TEXT;
