-- Moves every right from the roles that all databases of a server shared to roles of this database
-- alone. Each role name below stands for the database's own (src/db/own-roles.ts). A new database
-- has used its own roles from the beginning, and nothing is moved there.
--
-- Processes of an older version go on: they act as the shared roles, which are members of the own
-- ones until `assay separate`.

do $$
declare
	pairs constant text[] := array[
		['app', 'assay_app'], ['agent', 'assay_agent'], ['audit', 'assay_audit'],
		['backup', 'assay_backup'], ['identity', 'assay_identity'], ['privacy', 'assay_privacy'],
		['search', 'assay_search']
	];
	pair text[];
	shared regrole;
	own text;
	item record;
	definition text;
begin
	foreach pair slice 1 in array pairs loop
		own := pair[2];
		shared := to_regrole('assay_' || pair[1]);
		continue when shared is null;
		for item in
			select p.polname as name, p.polrelid::regclass as relation from pg_policy p
			where p.polroles = array[shared::oid]
		loop
			execute format('alter policy %I on %s to %I', item.name, item.relation, own);
		end loop;
		-- A role can become the owner of a function only while it may create functions.
		execute format('grant create on schema public to %I', own);
		for item in select p.oid::regprocedure as signature from pg_proc p where p.proowner = shared loop
			execute format('alter function %s owner to %I', item.signature, own);
		end loop;
		execute format('revoke create on schema public from %I', own);
		for item in
			select a.privilege_type as privilege, 'table ' || c.oid::regclass as object
			from pg_class c, aclexplode(c.relacl) a where a.grantee = shared
			union all
			select format('%s (%I)', a.privilege_type, t.attname), 'table ' || t.attrelid::regclass
			from pg_attribute t, aclexplode(t.attacl) a where a.grantee = shared
			union all
			select a.privilege_type, 'function ' || p.oid::regprocedure
			from pg_proc p, aclexplode(p.proacl) a where a.grantee = shared
			union all
			select a.privilege_type, format('schema %I', n.nspname)
			from pg_namespace n, aclexplode(n.nspacl) a where a.grantee = shared
		loop
			execute format('grant %s on %s to %I', item.privilege, item.object, own);
			execute format('revoke %s on %s from %s', item.privilege, item.object, shared);
		end loop;
	end loop;

	-- The functions that make policies and grants name the roles in their text.
	for item in
		select p.oid from pg_proc p
		where p.pronamespace = 'public'::regnamespace
			and p.prosrc ~ '\massay_(app|agent|audit|backup|identity|privacy|search)\M'
	loop
		definition := pg_get_functiondef(item.oid);
		foreach pair slice 1 in array pairs loop
			definition := regexp_replace(definition, '\massay_' || pair[1] || '\M', pair[2], 'g');
		end loop;
		execute definition;
	end loop;
end
$$;
