-- mailed_at is when the installation's own account mailed a link to the e-mail that it is for, and it was shown to nobody: whoever uses it
-- reads that mailbox. NULL where it was shown, or left by an account that others read.
ALTER TABLE one_time_links ADD COLUMN mailed_at TIMESTAMP;
