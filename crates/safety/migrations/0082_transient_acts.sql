-- What the tool of such an act says is told to the turn that asked and kept nowhere: result says only that it was asked, and when.
ALTER TABLE acts ADD COLUMN transient BOOL NOT NULL DEFAULT FALSE;
