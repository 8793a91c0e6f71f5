-- A viewer is no mail relay. Everybody may make an organization and is its administrator, so being
-- an administrator somewhere does not show that anybody trusts a user. Being member or
-- administrator of an organization that was made on the server does.

-- True if a signed-in user made the organization; false if the first set-up or a command did.
alter table organizations add column made_by_user boolean not null default false;

-- The first entry of an audit log tells who made the organization. Row-level security binds the
-- owner too.
alter table organizations no force row level security;
alter table audit_entries no force row level security;
update organizations o set made_by_user = true
from audit_entries e
where e.organization_id = o.id and e.sequence = 1
	and e.operation = 'createOrganization' and e.actor_kind = 'USER';
alter table organizations force row level security;
alter table audit_entries force row level security;

create index invitations_mailed_at on invitations (created_at) where mailed_token_hash is not null;

-- Whether somebody who runs the service, or somebody whom they trust, gave the user a role that may
-- write.
create function is_trusted_inviter(p_user_id text) returns boolean
language sql stable set search_path = public, pg_temp
as $$
	select exists (
		select from memberships m join organizations o on o.id = m.organization_id
		where m.user_id = p_user_id and m.role in ('admin', 'member') and not o.made_by_user
	)
$$;

-- Whether the service may mail one more invitation of the transaction's user. A user who is not a
-- trusted inviter sends at most p_of_user mails a day, and all such users together p_of_all. They
-- take turns, so that simultaneous calls do not exceed the limits.
create function may_mail_invitation(p_of_user integer, p_of_all integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	caller text := current_setting('assay.user_id', true);
begin
	if is_trusted_inviter(caller) then
		return true;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('invitation mails', 0));
	return (
		select count(*) filter (where i.invited_by_id = caller) < p_of_user and count(*) < p_of_all
		from invitations i
		where i.mailed_token_hash is not null and i.created_at > now() - interval '1 day'
			and not is_trusted_inviter(i.invited_by_id)
	);
end
$$;

do $$
declare
	signature regprocedure;
begin
	grant create on schema public to assay_identity;
	foreach signature in array array[
		'is_trusted_inviter(text)', 'may_mail_invitation(integer, integer)'
	]::regprocedure[] loop
		execute format('alter function %s owner to assay_identity', signature);
		execute format('revoke execute on function %s from public', signature);
	end loop;
	revoke create on schema public from assay_identity;
end
$$;
grant execute on function may_mail_invitation(integer, integer) to assay_app;
