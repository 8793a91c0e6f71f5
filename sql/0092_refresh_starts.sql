-- All refresh tokens of a connected app begin with the same text. An old one is therefore known as one
-- of this app, however many came after it, and its use ends the connection.
alter table connected_apps
	add column refresh_start_hash bytea unique check (octet_length(refresh_start_hash) = 32);
