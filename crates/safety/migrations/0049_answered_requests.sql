-- Administrative requests that came with a key of the caller's choosing, each told once: the same again is answered with what
-- was answered then. Under all zeros stands what belongs to the installation, so there is no foreign key. answer is NULL
-- until the request was answered, and for answers that hold something which is shown once.
CREATE SHARED TABLE answered_requests VIA requests (
  tenant_id UUID NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  operation TEXT NOT NULL,
  digest BYTES NOT NULL,
  answer JSON,
  asked_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, caller, key)
);
CREATE INDEX answered_requests_asked ON answered_requests (asked_at);
