-- Since when somebody is forgotten, or is being forgotten: nobody is known as them from then on, and nothing makes somebody of the row
-- again.
ALTER TABLE persons ADD COLUMN forgotten_at TIMESTAMP;
