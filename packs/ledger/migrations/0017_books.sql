-- Money is in paise, quantities in thousandths of the item's unit, a day is counted from 1970-01-01 in the tenant's zone.
-- Nothing here is ever deleted. What was booked (entries, postings, movements) is not changed either: an entry is
-- cancelled by another one that reverses it. Figures called kept follow from these, and `verify` proves it.

-- The end of the books. Whoever writes locks this row first and nothing of the books before it, so writers of one
-- tenant follow each other. entries numbers the next; receivable and payable are kept sums of what contacts owe.
CREATE TENANT TABLE ledger_books (
  tenant_id UUID NOT NULL PRIMARY KEY REFERENCES tenants (id),
  entries INT NOT NULL CHECK (entries >= 0),
  receivable INT NOT NULL CHECK (receivable >= 0),
  payable INT NOT NULL CHECK (payable >= 0)
);

-- Who keeps these books. Above confirm_above the owner is asked before anything is booked.
CREATE TENANT TABLE ledger_profiles (
  tenant_id UUID NOT NULL PRIMARY KEY REFERENCES tenants (id),
  business TEXT NOT NULL,
  owner TEXT NOT NULL,
  trade TEXT NOT NULL,
  place TEXT NOT NULL,
  state TEXT NOT NULL,
  phone TEXT,
  upi TEXT,
  gstin TEXT,
  scheme TEXT NOT NULL CHECK (scheme IN ('unregistered', 'regular', 'composition')),
  confirm_above INT NOT NULL CHECK (confirm_above >= 0),
  changed_at TIMESTAMP NOT NULL
);

-- People and businesses with an account. balance is kept: what they owe; below zero, what is owed to them. One that was
-- merged leads to the other and keeps no balance of its own.
CREATE TENANT TABLE ledger_contacts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  name TEXT NOT NULL CHECK (name <> ''),
  is_customer BOOL NOT NULL,
  is_supplier BOOL NOT NULL,
  is_staff BOOL NOT NULL,
  phone TEXT,
  credit_limit INT CHECK (credit_limit >= 0),
  balance INT NOT NULL,
  merged_into UUID,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, merged_into) REFERENCES ledger_contacts (tenant_id, id),
  CHECK (merged_into IS NULL OR (balance = 0 AND merged_into <> id))
);
CREATE INDEX ledger_contacts_balance ON ledger_contacts (tenant_id, balance, id);
CREATE INDEX ledger_contacts_merged ON ledger_contacts (tenant_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX ledger_contacts_phone ON ledger_contacts (tenant_id, phone) WHERE phone IS NOT NULL;
CREATE INDEX ledger_contacts_newest ON ledger_contacts (tenant_id, made_at, id);

-- Things that are bought and sold. stock is kept; low_at is where the owner wants to be told.
CREATE TENANT TABLE ledger_items (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  name TEXT NOT NULL CHECK (name <> ''),
  unit TEXT NOT NULL CHECK (unit <> ''),
  price INT CHECK (price >= 0),
  low_at INT CHECK (low_at >= 0),
  stock INT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX ledger_items_low ON ledger_items (tenant_id, name, id) WHERE low_at IS NOT NULL AND stock <= low_at;
CREATE INDEX ledger_items_newest ON ledger_items (tenant_id, made_at, id);

-- The words of every name a contact or an item has had, by their consonants, so that any script finds them.
CREATE TENANT TABLE ledger_names APPEND ONLY (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  kind TEXT NOT NULL CHECK (kind IN ('contact', 'item')),
  bone TEXT NOT NULL,
  subject_id UUID NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (tenant_id, kind, bone, subject_id, name)
);
CREATE INDEX ledger_names_subject ON ledger_names (tenant_id, kind, subject_id);

-- The chart: cash, bank, contacts (of all contacts together), sales, purchases, opening, unsorted, and one for each
-- category of expenses. balance is kept.
CREATE TENANT TABLE ledger_accounts (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  code TEXT NOT NULL,
  name TEXT NOT NULL,
  balance INT NOT NULL,
  PRIMARY KEY (tenant_id, code)
);

-- What happened, as it was said. key is the act's id: booking again under it gives the same entry. side says which habit
-- of the contact it belongs to, flow whether money came in (1) or left (-1). One that reverses another has the amount below zero, stands on the other's day and says why.
CREATE TENANT TABLE ledger_entries APPEND ONLY (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  number INT NOT NULL CHECK (number > 0),
  key UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('sale', 'purchase', 'expense', 'credit_given', 'credit_taken',
    'payment_received', 'payment_made', 'transfer', 'opening', 'stock_in', 'stock_out')),
  side TEXT CHECK (side IN ('trade', 'payment')),
  happened_at TIMESTAMP NOT NULL,
  day INT NOT NULL,
  made_at TIMESTAMP NOT NULL,
  said_by UUID,
  source TEXT NOT NULL CHECK (source IN ('owner', 'sms', 'import')),
  words TEXT NOT NULL,
  words_key BYTES,
  contact_id UUID,
  amount INT NOT NULL CHECK (amount BETWEEN -1000000000000 AND 1000000000000),
  flow INT NOT NULL CHECK (flow IN (-1, 0, 1)),
  reference TEXT,
  fingerprint TEXT,
  reverses UUID,
  corrects UUID,
  reason TEXT,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES ledger_contacts (tenant_id, id),
  FOREIGN KEY (tenant_id, reverses) REFERENCES ledger_entries (tenant_id, id),
  FOREIGN KEY (tenant_id, corrects) REFERENCES ledger_entries (tenant_id, id),
  CHECK ((reverses IS NULL AND amount >= 0) OR (reverses IS NOT NULL AND amount <= 0 AND reason <> '')),
  CHECK ((reason IS NULL) = (reverses IS NULL)),
  CHECK (reverses IS NULL OR corrects IS NULL),
  CHECK ((side IS NULL) OR contact_id IS NOT NULL),
  CHECK (amount <> 0 OR kind IN ('stock_in', 'stock_out', 'opening'))
);
CREATE UNIQUE INDEX ledger_entries_number ON ledger_entries (tenant_id, number);
CREATE UNIQUE INDEX ledger_entries_key ON ledger_entries (tenant_id, key);
CREATE UNIQUE INDEX ledger_entries_reverses ON ledger_entries (tenant_id, reverses) WHERE reverses IS NOT NULL;
CREATE UNIQUE INDEX ledger_entries_corrects ON ledger_entries (tenant_id, corrects) WHERE corrects IS NOT NULL;
CREATE INDEX ledger_entries_habit ON ledger_entries (tenant_id, contact_id, side, happened_at DESC, number DESC);
CREATE INDEX ledger_entries_contact ON ledger_entries (tenant_id, contact_id, happened_at, id);
CREATE INDEX ledger_entries_newest ON ledger_entries (tenant_id, happened_at, id);
CREATE INDEX ledger_entries_day ON ledger_entries (tenant_id, day, kind, amount);
CREATE INDEX ledger_entries_words ON ledger_entries (tenant_id, words_key, made_at) WHERE words_key IS NOT NULL;
CREATE INDEX ledger_entries_amount ON ledger_entries (tenant_id, amount, happened_at);
CREATE INDEX ledger_entries_fingerprint ON ledger_entries (tenant_id, fingerprint) WHERE fingerprint IS NOT NULL;

-- An amount out of one account (credit) into another (debit), so that no entry can fail to balance. Where one of them is
-- `contacts` it says whose. day and kind are the entry's. A reversal repeats the row with the amount below zero, so that
-- a day's turnover is what truly happened.
CREATE TENANT TABLE ledger_postings APPEND ONLY (
  tenant_id UUID NOT NULL,
  entry_id UUID NOT NULL,
  line INT NOT NULL CHECK (line > 0),
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  contact_id UUID,
  amount INT NOT NULL CHECK (amount <> 0),
  kind TEXT NOT NULL,
  day INT NOT NULL,
  PRIMARY KEY (tenant_id, entry_id, line),
  FOREIGN KEY (tenant_id, entry_id) REFERENCES ledger_entries (tenant_id, id),
  FOREIGN KEY (tenant_id, debit) REFERENCES ledger_accounts (tenant_id, code),
  FOREIGN KEY (tenant_id, credit) REFERENCES ledger_accounts (tenant_id, code),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES ledger_contacts (tenant_id, id),
  CHECK (debit <> credit),
  CHECK ((contact_id IS NOT NULL) = (debit = 'contacts' OR credit = 'contacts'))
);
-- For the proof alone: it adds up all rows, and in this order needs no sorting.
CREATE INDEX ledger_postings_day ON ledger_postings (tenant_id, day, kind, debit, credit, amount);
CREATE INDEX ledger_postings_contact ON ledger_postings (tenant_id, contact_id, debit, amount) WHERE contact_id IS NOT NULL;

-- What came into stock (above zero) or left it.
CREATE TENANT TABLE ledger_movements APPEND ONLY (
  tenant_id UUID NOT NULL,
  entry_id UUID NOT NULL,
  line INT NOT NULL CHECK (line > 0),
  item_id UUID NOT NULL,
  quantity INT NOT NULL CHECK (quantity <> 0 AND quantity BETWEEN -1000000000000 AND 1000000000000),
  PRIMARY KEY (tenant_id, entry_id, line),
  FOREIGN KEY (tenant_id, entry_id) REFERENCES ledger_entries (tenant_id, id),
  FOREIGN KEY (tenant_id, item_id) REFERENCES ledger_items (tenant_id, id)
);
CREATE INDEX ledger_movements_item ON ledger_movements (tenant_id, item_id, entry_id);

-- Kept: the turnover of each day between two accounts, by kind. A month is at most a few hundred of these rows.
CREATE TENANT TABLE ledger_days (
  tenant_id UUID NOT NULL,
  day INT NOT NULL,
  kind TEXT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  amount INT NOT NULL,
  postings INT NOT NULL,
  PRIMARY KEY (tenant_id, day, kind, debit, credit)
);

-- Kept: what is usual for a contact, of the latest twenty entries of a side that stand. usual is the median; half of them
-- lie between low and high. rhythm is the median of days between two of them. seen counts all that stand.
CREATE TENANT TABLE ledger_habits (
  tenant_id UUID NOT NULL,
  contact_id UUID NOT NULL,
  side TEXT NOT NULL CHECK (side IN ('trade', 'payment')),
  seen INT NOT NULL CHECK (seen >= 0),
  last_at TIMESTAMP,
  usual INT,
  low INT,
  high INT,
  rhythm INT,
  PRIMARY KEY (tenant_id, contact_id, side),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES ledger_contacts (tenant_id, id)
);

-- The dedup log: every time a payment was seen, by whichever way, and the entry it is.
CREATE TENANT TABLE ledger_sightings APPEND ONLY (
  tenant_id UUID NOT NULL,
  fingerprint TEXT NOT NULL,
  seen_at TIMESTAMP NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('owner', 'sms', 'import')),
  entry_id UUID NOT NULL,
  PRIMARY KEY (tenant_id, fingerprint, entry_id, source),
  FOREIGN KEY (tenant_id, entry_id) REFERENCES ledger_entries (tenant_id, id)
);

-- Messages to contacts about what they owe.
CREATE TENANT TABLE ledger_reminders (
  tenant_id UUID NOT NULL,
  id UUID NOT NULL,
  contact_id UUID NOT NULL,
  amount INT NOT NULL,
  words TEXT NOT NULL,
  due_at TIMESTAMP NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'dropped')),
  made_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES ledger_contacts (tenant_id, id),
  CHECK ((state = 'waiting') = (ended_at IS NULL))
);
CREATE INDEX ledger_reminders_due ON ledger_reminders (tenant_id, due_at, id) WHERE state = 'waiting';
CREATE INDEX ledger_reminders_contact ON ledger_reminders (tenant_id, contact_id, ended_at);

-- Invoices, bills of supply, receipts: numbered without a gap within their series. body is what was printed.
CREATE TENANT TABLE ledger_documents APPEND ONLY (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  id UUID NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('invoice', 'bill_of_supply', 'receipt', 'scan')),
  series TEXT NOT NULL,
  number INT NOT NULL CHECK (number > 0),
  entry_id UUID,
  contact_id UUID,
  body JSON NOT NULL,
  made_at TIMESTAMP NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, entry_id) REFERENCES ledger_entries (tenant_id, id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES ledger_contacts (tenant_id, id)
);
CREATE UNIQUE INDEX ledger_documents_number ON ledger_documents (tenant_id, series, number);
CREATE INDEX ledger_documents_entry ON ledger_documents (tenant_id, entry_id) WHERE entry_id IS NOT NULL;

-- only postgres
REVOKE DELETE ON ledger_books, ledger_profiles, ledger_contacts, ledger_items, ledger_accounts, ledger_days, ledger_habits,
  ledger_reminders FROM munshi_app;

-- only sqlite
CREATE TRIGGER ledger_books_stay BEFORE DELETE ON ledger_books BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_profiles_stay BEFORE DELETE ON ledger_profiles BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_contacts_stay BEFORE DELETE ON ledger_contacts BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_items_stay BEFORE DELETE ON ledger_items BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_accounts_stay BEFORE DELETE ON ledger_accounts BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_days_stay BEFORE DELETE ON ledger_days BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_habits_stay BEFORE DELETE ON ledger_habits BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;
CREATE TRIGGER ledger_reminders_stay BEFORE DELETE ON ledger_reminders BEGIN SELECT RAISE(ABORT, 'nothing in the books is deleted'); END;

-- A row that is replaced goes without its delete triggers where a connection has recursive_triggers off.
CREATE TRIGGER ledger_entries_follow BEFORE INSERT ON ledger_entries
WHEN EXISTS (SELECT 1 FROM ledger_entries WHERE tenant_id = NEW.tenant_id AND id = NEW.id)
  OR EXISTS (SELECT 1 FROM ledger_entries WHERE tenant_id = NEW.tenant_id AND number = NEW.number)
  OR EXISTS (SELECT 1 FROM ledger_entries WHERE tenant_id = NEW.tenant_id AND key = NEW.key)
  OR (NEW.reverses IS NOT NULL
    AND EXISTS (SELECT 1 FROM ledger_entries WHERE tenant_id = NEW.tenant_id AND reverses = NEW.reverses))
BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only: this entry is there'); END;
CREATE TRIGGER ledger_postings_follow BEFORE INSERT ON ledger_postings
WHEN EXISTS (SELECT 1 FROM ledger_postings
  WHERE tenant_id = NEW.tenant_id AND entry_id = NEW.entry_id AND line = NEW.line)
BEGIN SELECT RAISE(ABORT, 'ledger_postings is append-only: this posting is there'); END;
CREATE TRIGGER ledger_movements_follow BEFORE INSERT ON ledger_movements
WHEN EXISTS (SELECT 1 FROM ledger_movements
  WHERE tenant_id = NEW.tenant_id AND entry_id = NEW.entry_id AND line = NEW.line)
BEGIN SELECT RAISE(ABORT, 'ledger_movements is append-only: this movement is there'); END;
-- both
