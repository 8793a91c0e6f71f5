import type { PoolClient } from "pg";
import { expect, test } from "vitest";
import { appendChanges } from "../../src/audit/log.ts";
import { makeIdWithoutTenant } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { createDatabaseForTest } from "../support/database.ts";

test("one statement logs an event in many organizations, so that no log is locked for long", async () => {
	const { pool, owner } = await createDatabaseForTest();
	const organizations: string[] = [];
	for (let number = 0; number < 50; number++) {
		organizations.push(
			await createOrganization(pool, `Organization ${number}`),
		);
	}
	const userId = makeIdWithoutTenant("user");
	const client = await pool.connect();
	let statements = 0;
	const counting = {
		query: (query: object) => {
			statements++;
			return client.query(query as never);
		},
	} as unknown as PoolClient;
	await appendChanges(
		counting,
		{ kind: "USER", userId, name: "Ada", memberships: [] },
		{ name: "updateProfile" },
		"",
		organizations.map((organizationId) => ({
			organizationId,
			kind: "user",
			id: userId,
			name: "Ada",
			fields: { name: { before: "Ada", after: "Ada L." } },
		})),
	);
	client.release();
	expect(statements).toBe(1);
	const { rows } = await owner.query<{ organization_id: string }>(
		"select organization_id from audit_entries where operation = 'updateProfile' order by organization_id",
	);
	expect(rows.map((row) => row.organization_id).sort()).toEqual(
		organizations.sort(),
	);
});
