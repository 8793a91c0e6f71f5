-- The user whose session signed or whose call approved. The person's name is a text that members may
-- change. Null: by a link, or before this was kept.
alter table document_signatures
	add column user_id typed_id,
	add column user_name text,
	add constraint document_signatures_user_check check ((user_id is null) = (user_name is null));
alter table document_approvals
	add column user_id typed_id,
	add column user_name text,
	add constraint document_approvals_user_check check ((user_id is null) = (user_name is null));
grant update (user_name) on document_signatures to assay_privacy;
grant update (user_name) on document_approvals to assay_privacy;
