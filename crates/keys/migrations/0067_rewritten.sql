-- When the file was written anew after the last of what an older version stored plain was sealed.
ALTER TABLE sealed_by ADD COLUMN rewritten_at TIMESTAMP;
