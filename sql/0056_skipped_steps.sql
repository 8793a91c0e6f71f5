-- The first steps that the administrators of an organization decided to leave out.
alter table organizations
	add column skipped_steps text[] not null default '{}'
		check (skipped_steps <@ array['RECORDS', 'DEVICE', 'PEOPLE', 'API_TOKEN']
			and cardinality(skipped_steps) <= 4);
