-- Which process works on a run. A run whose holder is known to be dead is taken up at once; where nothing is known, when
-- its lease has passed.
ALTER TABLE runs ADD COLUMN holder UUID;

-- Processes that take up runs. node names the data folder whose lock the process holds; machine and pid tell it to others
-- on the same machine, started apart from a later process of the same number.
CREATE PLATFORM TABLE run_holders VIA runs (
  id UUID PRIMARY KEY,
  node TEXT,
  machine TEXT NOT NULL,
  pid INT NOT NULL,
  started INT NOT NULL,
  since TIMESTAMP NOT NULL
);
