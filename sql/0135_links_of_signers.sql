-- People who have not signed can be reminded by mail. Their link works for 30 days from the last mail.
alter table document_signatures add column reminded_at timestamptz;
