-- Names and addresses of persons are sealed. They are found by keyed hashes: a name by name_hash, and an address by what stands in
-- its own column from now on. shown is the address itself, sealed; NULL where the row is from before and the address is plain.
-- channel is that of a channel's own id, which says nothing of anybody.
ALTER TABLE persons ADD COLUMN name_hash BYTES;
CREATE INDEX persons_name_hash ON persons (tenant_id, name_hash) WHERE name_hash IS NOT NULL;
ALTER TABLE person_addresses ADD COLUMN shown TEXT;
ALTER TABLE person_addresses ADD COLUMN channel TEXT;
ALTER TABLE one_time_codes ADD COLUMN shown TEXT;
