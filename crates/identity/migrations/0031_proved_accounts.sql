-- proved_at is when the account's e-mail was first shown to be its holder's: by a sign-in service that has verified it, or
-- by whoever has the machine. home is the tenant whose invitation made the account: until it is proved, it has roles
-- nowhere else. Accounts tied to a service that have a password too are proved by their next sign-in there, which ends it.
ALTER TABLE operators ADD COLUMN proved_at TIMESTAMP;
ALTER TABLE operators ADD COLUMN home UUID;
UPDATE operators SET proved_at = made_at WHERE is_first OR (subject IS NOT NULL AND password IS NULL);
UPDATE operators SET home = (SELECT r.tenant_id FROM operator_roles r WHERE r.operator_id = operators.id)
WHERE (SELECT COUNT(*) FROM operator_roles r WHERE r.operator_id = operators.id) = 1;
