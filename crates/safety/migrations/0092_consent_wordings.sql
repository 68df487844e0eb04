-- The hash of the words and days that somebody agreed to: a consent holds while the policy asks for its purpose in these.
ALTER TABLE consents ADD COLUMN wording TEXT;
