-- The acts of a person, for when they are told what is known about them, or are forgotten; and what has not ended of these, which is few.
CREATE INDEX acts_person ON acts (tenant_id, person_id, id) WHERE person_id IS NOT NULL;
CREATE INDEX acts_open ON acts (tenant_id, person_id) WHERE state IN ('waiting', 'rehearsing', 'intended');
CREATE INDEX approvals_pending_act ON approvals (tenant_id, act_id) WHERE state = 'pending';
