-- What waits in a lane, in the order it is taken in: a chat may have waited long, and each of its messages looks for the first.
CREATE INDEX channel_arrivals_order ON channel_arrivals
  (tenant_id, lane, (CASE state WHEN 'taking' THEN 0 ELSE 1 END), (COALESCE(happened_at, received_at)), id)
  WHERE ended_at IS NULL;
DROP INDEX channel_arrivals_lane;
