-- What signing in and joining leave behind is found by when it was over, and deleted daily
-- (src/access/leftovers.ts).

create index sessions_expiry on sessions (expires_at);
create index verifications_expiry on verifications (expires_at);
create index invitations_over on invitations (least(expires_at, accepted_at, revoked_at));

-- Deleting what was picked takes a lock on the row first, which needs a right to update it.
grant delete on invitations to assay_identity;
