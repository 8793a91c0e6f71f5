-- People who have not signed can be reminded by mail. Their link works for 30 days from the last mail.
alter table document_signatures add column reminded_at timestamptz;

-- The address that the link of a signature was mailed to, and the user who set it. A link proves no
-- more than the address does.
alter table document_signatures
	add column mailed_to text,
	add column address_set_by_id typed_id,
	add column address_set_by_name text,
	add column address_set_at timestamptz,
	-- A member without the role admin set the address shortly before the request to sign, or after
	-- it.
	add column is_address_doubtful boolean not null default false,
	add constraint document_signatures_mailed_to_check check (mailed_to is null or way = 'LINK'),
	add constraint document_signatures_address_set_check
		check ((address_set_at is null) = (address_set_by_name is null));
grant update (mailed_to, address_set_by_name) on document_signatures to assay_privacy;
