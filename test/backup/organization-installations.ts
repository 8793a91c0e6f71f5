import type { Pool } from "pg";
import { afterAll } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { makeLogger } from "../../src/log.ts";
import { deleteDueOrganizations } from "../../src/retention/delete-organizations.ts";
import { backUp, query, restore } from "../support/backups.ts";
import {
	copyInstallation,
	createInstallation,
	type OwnedDatabase,
	ownedBy,
} from "../support/installations.ts";

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

/** Deletes the organization now, as if the time after its closing had passed. */
export async function deleteNow(
	{ url, look }: OwnedDatabase,
	id: string,
): Promise<void> {
	await query(
		look,
		"insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now() - interval '1 day')",
		[id],
	);
	await query(look, "delete from deleted_organizations where number = 1");
	await deleteDueOrganizations({ connectionString: url }, makeLogger("silent"));
}

/**
 * Makes an empty database with the newest schema, and a copy of the database `filled` without the
 * organization. The tests copy both. All are dropped after the file.
 */
export async function makeInstallations(filled: string, id: string) {
	const empty = await createInstallation({ dropAt: afterAll });
	await migrate({ connectionString: empty.url });
	const others = await createInstallation({ dropAt: afterAll });
	await restore(others.url, (await backUp(filled)).file);
	await deleteNow(ownedBy(others, others.name), id);
	return {
		/** Copies the database without rows. */
		copyEmpty: () => copyInstallation(empty),
		/** Copies the database with the other organizations. */
		copyOthers: () => copyInstallation(others),
	};
}
