-- The API key through which a run's message came: which one, for whom it talks, and what whoever speaks through it is at
-- most. NULL where it came by no key, and for runs from before keys said so: those are the person's own.
ALTER TABLE runs ADD COLUMN key_use JSON;
