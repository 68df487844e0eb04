-- Which key a person's text is sealed by. Apart from persons, whose every change is told to those who keep their names. The key
-- itself is in the store of keys.
CREATE SHARED TABLE person_keys VIA sealing (
  tenant_id UUID NOT NULL,
  person_id UUID NOT NULL,
  key_id UUID NOT NULL,
  PRIMARY KEY (tenant_id, person_id)
);
CREATE INDEX person_keys_newest ON person_keys (key_id);
