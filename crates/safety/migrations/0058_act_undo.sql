-- How an act is taken back: the call that does it (a tool and its arguments), until when that is offered, and the act that did it. An act
-- that can't be taken back has none.
ALTER TABLE acts ADD COLUMN undo JSON;
ALTER TABLE acts ADD COLUMN undo_until TIMESTAMP;
ALTER TABLE acts ADD COLUMN undone_by UUID;
CREATE INDEX acts_undone_by ON acts (tenant_id, undone_by) WHERE undone_by IS NOT NULL;
