import type { Pool } from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { makeLogger } from "../../src/log.ts";
import { deleteDueOrganizations } from "../../src/retention/delete-organizations.ts";
import { backUp, query, restore } from "../support/backups.ts";
import { withDatabaseName } from "../support/database.ts";
import { createInstallation } from "../support/installations.ts";

/** Adds what an export has to leave out, and a log with an entry that has no seal yet. */
export async function addToLeaveOut(owner: Pool): Promise<void> {
	await owner.query(
		`insert into saved_views (organization_id, id, list, name, search, owner_id)
		select organization_id, 's' || right(user_id, 31), 'risk', 'Own', '{}', user_id from memberships`,
	);
	await owner.query(
		`insert into notification_channels (organization_id, id, kind, name, sealed_address, address_host)
		select id, 'c' || right(id, 31), 'SLACK', 'Chat', 'address of a chat', 'example.com' from organizations`,
	);
	await owner.query(
		`insert into revoked_device_keys select id, sha256(convert_to(id, 'UTF8')) from organizations`,
	);
}

/**
 * An empty database with the newest schema, whose owner is no superuser. It is on the server of the
 * database `filled`.
 */
export async function makeEmptyInstallation(filled: string) {
	const installation = await createInstallation();
	await migrate({ connectionString: installation.url });
	return {
		url: installation.url,
		look: withDatabaseName(filled, installation.name),
	};
}

/** A copy of the database `filled` without the organization, for an owner who is no superuser. */
export async function makeInstallationWithOthers(filled: string, id: string) {
	const installation = await createInstallation();
	await restore(installation.url, (await backUp(filled)).file);
	const look = withDatabaseName(filled, installation.name);
	const deletion = async () => {
		await query(
			look,
			"insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now() - interval '1 day')",
			[id],
		);
		await query(look, "delete from deleted_organizations where number = 1");
		await deleteDueOrganizations(
			{ connectionString: installation.url },
			makeLogger("silent"),
		);
	};
	await deletion();
	return { url: installation.url, look, deletion };
}
