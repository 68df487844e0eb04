-- What somebody was asked to consent to, so that it is found again without reading each question of theirs.
ALTER TABLE approvals ADD COLUMN purpose TEXT;
CREATE INDEX approvals_purpose ON approvals (tenant_id, asked_by, purpose, asked_at) WHERE purpose IS NOT NULL;
