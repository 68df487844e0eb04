-- The files of a person, for when they are told what is known about them, or are forgotten.
CREATE INDEX blobs_person ON blobs (tenant_id, person_id, id) WHERE person_id IS NOT NULL;
