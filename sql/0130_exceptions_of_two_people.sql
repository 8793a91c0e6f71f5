-- An exception stores whether the device policy demanded two people when it was requested.
-- Switching the rule off later does not change this.
alter table device_exceptions
	add column needs_two_people boolean not null default false,
	add column is_self_approved boolean not null default false,
	add constraint device_exceptions_self_approved_check check (not is_self_approved or decision = 'APPROVED');

alter table device_exceptions no force row level security;
alter table device_policies no force row level security;
update device_exceptions set is_self_approved = true
where decision = 'APPROVED' and decided_by_id in (requested_by_id, link_copied_by_id);

update device_exceptions t set needs_two_people = true
from device_policies p
where t.decision is null and p.organization_id = t.organization_id and p.exceptions_need_two_people;
alter table device_exceptions force row level security;
alter table device_policies force row level security;

create index device_exceptions_self_approved on device_exceptions (organization_id, created_at, id)
	where is_self_approved;
create index device_exceptions_self_approved_ends_at on device_exceptions (organization_id, ends_at, id)
	where is_self_approved;
