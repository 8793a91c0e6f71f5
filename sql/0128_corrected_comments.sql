-- The time at which the author last corrected the comment.
alter table record_comments add column edited_at timestamptz;
grant update (text, mentioned_ids, edited_at) on record_comments to assay_app;
