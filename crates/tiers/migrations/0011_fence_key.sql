-- The installation's secret for the fences around what others wrote. One row, made by the first node that needs it and
-- the same for all, so that the same prompt has the same bytes wherever it is made.
CREATE PLATFORM TABLE fence_key VIA fences (
  id INT PRIMARY KEY CHECK (id = 1),
  secret BYTES NOT NULL,
  made_at TIMESTAMP NOT NULL
);
