-- A contact who was forgotten keeps an account and loses every name. Then alone may words in the books be overwritten, with the name that
-- stands there in place of theirs, and names be removed: the one exception to append-only.
ALTER TABLE ledger_contacts ADD COLUMN forgotten_at TIMESTAMP;

-- only sqlite
DROP TRIGGER ledger_entries_no_update;
CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
WHEN NOT (EXISTS (SELECT 1 FROM ledger_contacts c WHERE c.tenant_id = OLD.tenant_id AND c.id = OLD.contact_id
                    AND c.forgotten_at IS NOT NULL AND NEW.words = c.name)
  AND NEW.words_key IS NULL AND (NEW.reason IS NULL OR NEW.reason = NEW.words)
  AND NEW.tenant_id = OLD.tenant_id AND NEW.id = OLD.id AND NEW.number = OLD.number AND NEW.key = OLD.key
  AND NEW.kind = OLD.kind AND NEW.side IS OLD.side AND NEW.happened_at = OLD.happened_at AND NEW.day = OLD.day
  AND NEW.made_at = OLD.made_at AND NEW.said_by IS OLD.said_by AND NEW.source = OLD.source
  AND NEW.contact_id IS OLD.contact_id AND NEW.amount = OLD.amount AND NEW.flow = OLD.flow
  AND NEW.reference IS OLD.reference AND NEW.fingerprint IS OLD.fingerprint
  AND NEW.reverses IS OLD.reverses AND NEW.corrects IS OLD.corrects)
BEGIN SELECT RAISE(ABORT, 'ledger_entries is append-only'); END;
DROP TRIGGER ledger_names_no_delete;
CREATE TRIGGER ledger_names_no_delete BEFORE DELETE ON ledger_names
WHEN OLD.kind <> 'contact' OR NOT EXISTS (SELECT 1 FROM ledger_contacts c WHERE c.tenant_id = OLD.tenant_id
  AND c.id = OLD.subject_id AND c.forgotten_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'ledger_names is append-only'); END;

-- only postgres
GRANT UPDATE (words, words_key, reason) ON ledger_entries TO munshi_app;
GRANT DELETE ON ledger_names TO munshi_app;
CREATE FUNCTION ledger_entries_no_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM ledger_contacts c WHERE c.tenant_id = OLD.tenant_id AND c.id = OLD.contact_id
               AND c.forgotten_at IS NOT NULL AND NEW.words = c.name)
     AND NEW.words_key IS NULL AND (NEW.reason IS NULL OR NEW.reason = NEW.words) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'ledger_entries is append-only' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
  FOR EACH ROW EXECUTE FUNCTION ledger_entries_no_update();
CREATE FUNCTION ledger_names_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.kind = 'contact' AND EXISTS (SELECT 1 FROM ledger_contacts c WHERE c.tenant_id = OLD.tenant_id
       AND c.id = OLD.subject_id AND c.forgotten_at IS NOT NULL) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'ledger_names is append-only' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER ledger_names_no_delete BEFORE DELETE ON ledger_names
  FOR EACH ROW EXECUTE FUNCTION ledger_names_no_delete();
-- both
