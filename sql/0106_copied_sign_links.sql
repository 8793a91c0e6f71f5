-- A member may copy the link with which a person without an account signs, and pass it on. The member
-- has then seen the link, so the signature says who copied it.
alter table document_signatures
	add column link_copied_at timestamptz,
	add column link_copied_by_id typed_id,
	add column link_copied_by_name text,
	add constraint document_signatures_copied_check
		check ((link_copied_at is null) = (link_copied_by_name is null)),
	drop constraint document_signatures_way_check,
	add constraint document_signatures_way_check check (way in ('SESSION', 'LINK', 'COPIED_LINK')),
	add constraint document_signatures_copied_way_check
		check (way <> 'COPIED_LINK' or link_copied_at is not null);
grant update (link_copied_by_name) on document_signatures to assay_privacy;
