-- Through what a consent was given, as far as it was a message or came by a key: the channel of the message, and the API key.
ALTER TABLE consents ADD COLUMN channel TEXT;
ALTER TABLE consents ADD COLUMN key_id UUID;
