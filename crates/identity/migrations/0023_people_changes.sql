-- Counts what changed about the persons of a tenant and how they are reached, so that whoever keeps a list of them knows
-- whether it is still the list. Triggers count, so that no statement can forget to.
CREATE TENANT TABLE people_changes (
  tenant_id UUID NOT NULL REFERENCES tenants (id),
  number INT NOT NULL,
  PRIMARY KEY (tenant_id)
);

-- only sqlite
CREATE TRIGGER persons_added AFTER INSERT ON persons WHEN NEW.name <> '' OR NOT NEW.visitor BEGIN
  INSERT INTO people_changes (tenant_id, number) VALUES (NEW.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER persons_changed AFTER UPDATE ON persons BEGIN
  INSERT INTO people_changes (tenant_id, number) VALUES (NEW.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER persons_removed AFTER DELETE ON persons BEGIN
  INSERT INTO people_changes (tenant_id, number) VALUES (OLD.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER person_addresses_added AFTER INSERT ON person_addresses BEGIN
  INSERT INTO people_changes (tenant_id, number) VALUES (NEW.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER person_addresses_changed AFTER UPDATE ON person_addresses BEGIN
  INSERT INTO people_changes (tenant_id, number) VALUES (NEW.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER person_addresses_removed AFTER DELETE ON person_addresses BEGIN
  INSERT INTO people_changes (tenant_id, number) VALUES (OLD.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET number = number + 1;
END;

-- only postgres
-- Once in a transaction, or the import of a list would leave a row behind for each of its lines.
CREATE FUNCTION people_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  tenant uuid := CASE WHEN TG_OP = 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM people_changes
                 WHERE tenant_id = tenant AND xmin = pg_current_xact_id()::xid) THEN
    INSERT INTO people_changes (tenant_id, number) VALUES (tenant, 1)
    ON CONFLICT (tenant_id) DO UPDATE SET number = people_changes.number + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER persons_added AFTER INSERT ON persons
  FOR EACH ROW WHEN (NEW.name <> '' OR NOT NEW.visitor) EXECUTE FUNCTION people_changed();
CREATE TRIGGER persons_changed AFTER UPDATE OR DELETE ON persons
  FOR EACH ROW EXECUTE FUNCTION people_changed();
CREATE TRIGGER person_addresses_changed AFTER INSERT OR UPDATE OR DELETE ON person_addresses
  FOR EACH ROW EXECUTE FUNCTION people_changed();
-- both
