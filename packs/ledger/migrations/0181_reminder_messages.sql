-- The message by which a reminder was sent: one that failed reminded nobody.
ALTER TABLE ledger_reminders ADD COLUMN message_id UUID;
