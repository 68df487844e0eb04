-- What a call's prompt was made of (tokens of each section, what was cut and why), and a hash of its text: enough to tell whether two
-- prompts were the same, and why one was not what somebody expected, without keeping the text. NULL for calls without a prompt and
-- for those made before.
ALTER TABLE llm_calls ADD COLUMN sections JSON;
ALTER TABLE llm_calls ADD COLUMN prompt_hash TEXT;
