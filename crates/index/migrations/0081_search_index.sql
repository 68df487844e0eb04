-- What a tenant's texts are searched by. version is of the way words are cut and hashed; another one than the program's, 0 among
-- them, is cleared and filled anew. Everything up to filled_at and filled_id has been looked at. key_id names the key in the store of
-- keys that words are hashed by; it has expired once somebody was forgotten whose words it hashed.
CREATE TENANT TABLE search_indexes (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  version INT NOT NULL,
  next_number INT NOT NULL,
  filled_at TIMESTAMP NOT NULL,
  filled_id UUID NOT NULL,
  key_id UUID,
  key_expired BOOL NOT NULL,
  PRIMARY KEY (tenant_id)
);

-- A text that can be found: its running number, what it is known by elsewhere, and the hashes of its words, eight bytes each. By these
-- it is taken out again once nobody can read it any more.
CREATE TENANT TABLE search_documents (
  tenant_id UUID NOT NULL,
  number INT NOT NULL,
  document_id UUID NOT NULL,
  at TIMESTAMP NOT NULL,
  tokens BYTES NOT NULL,
  PRIMARY KEY (tenant_id, number)
);
CREATE UNIQUE INDEX search_documents_id ON search_documents (tenant_id, document_id);

-- Between which times the texts of 4,096 numbers lie.
CREATE TENANT TABLE search_blocks (
  tenant_id UUID NOT NULL,
  block INT NOT NULL,
  oldest TIMESTAMP NOT NULL,
  newest TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, block)
);
CREATE INDEX search_blocks_newest ON search_blocks (tenant_id, newest, block);

-- Which numbers of a block have a word: a list or a bitmap of them. SQLite keeps a block's words together, since all new ones go into
-- the newest block and each page that is touched is written to the log; without a row id the key is not kept twice.
CREATE TENANT TABLE search_postings (
  tenant_id UUID NOT NULL,
  token INT NOT NULL,
  block INT NOT NULL,
  numbers BYTES NOT NULL,
-- only sqlite
  PRIMARY KEY (tenant_id, block, token)
), WITHOUT ROWID;
-- only postgres
  PRIMARY KEY (tenant_id, token, block)
);
-- What a block holds is counted each night.
CREATE INDEX search_postings_block ON search_postings (tenant_id, block, token);
-- both
