-- A file that somebody gave, one row for each content within one key. Its bytes lie in the blob store, sealed by content_key, which is
-- itself sealed by the key of key_id: a person's, or the nil id for the tenant's own. content_hash is keyed by that same key, so that equal
-- files of two people can't be told to be equal. The row is there before the bytes are (writing) and until they are gone (deleting), so
-- whatever lies in the store has a row. A picture has a preview, which is what is shown.
CREATE TENANT TABLE blobs (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  person_id UUID,
  key_id UUID NOT NULL,
  content_hash BYTES NOT NULL,
  content_key TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size INT NOT NULL,
  stored_size INT NOT NULL,
  preview_width INT,
  preview_height INT,
  state TEXT NOT NULL CHECK (state IN ('writing', 'ready', 'deleting')),
  created_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX blobs_content ON blobs (tenant_id, key_id, content_hash) WHERE state = 'ready';
CREATE INDEX blobs_unfinished ON blobs (tenant_id, created_at) WHERE state <> 'ready';

-- What a file hangs on: the upload that brought it, until it ends, and each message that carries it. A file without any is swept. name is
-- what the giver called it there.
CREATE TENANT TABLE blob_references (
  tenant_id UUID NOT NULL,
  blob_id UUID NOT NULL,
  holder TEXT NOT NULL CHECK (holder IN ('upload', 'message')),
  holder_id UUID NOT NULL,
  name TEXT,
  created_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP,
  PRIMARY KEY (tenant_id, blob_id, holder, holder_id),
  FOREIGN KEY (tenant_id, blob_id) REFERENCES blobs (tenant_id, id)
);
CREATE INDEX blob_references_holder ON blob_references (tenant_id, holder, holder_id);
CREATE INDEX blob_references_expiry ON blob_references (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

-- How much a tenant has in the blob store, counted with the rows.
CREATE TENANT TABLE blob_usage (
  tenant_id UUID NOT NULL PRIMARY KEY REFERENCES tenants (id),
  bytes INT NOT NULL,
  files INT NOT NULL
);
