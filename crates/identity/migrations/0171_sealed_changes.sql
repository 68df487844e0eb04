-- When the walk through a table last sealed something that stood plain. What was overwritten may stand in the file until it is written anew
-- after that.
ALTER TABLE sealed_rows ADD COLUMN changed_at TIMESTAMP;
