import { beforeEach, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { removeLeftovers } from "../../src/retention/expired-rows.ts";
import {
	createDatabaseForTest,
	type TestDatabase,
} from "../support/database.ts";
import { startService } from "../support/service.ts";

let database: TestDatabase;
beforeEach(async () => {
	database = await createDatabaseForTest();
});

const remove = () => removeLeftovers({ connectionString: database.url });

/**
 * Creates one row of each kind that expired this long ago, or that will expire if the time is
 * negative. The letter is part of the rows' ids.
 */
async function addRows(letter: string, ago: string): Promise<void> {
	const { owner } = database;
	const [{ id: user }] = (
		await owner.query(
			"insert into users (id, name, email) values (repeat($1, 32), 'Ada', $1 || '@example.com') returning id",
			[letter],
		)
	).rows;
	await owner.query(
		"insert into sessions (id, user_id, token, expires_at) values (repeat($1, 32), $2, $1, now() - $3::interval)",
		[letter, user, ago],
	);
	await owner.query(
		"insert into verifications (id, identifier, value, expires_at) values (repeat($1, 32), $1, $1, now() - $2::interval)",
		[letter, ago],
	);
	await owner.query(
		"insert into account_links (token_hash, purpose, user_id, expires_at) values (sha256($1::bytea), 'PASSWORD_RESET', $2, now() - $3::interval)",
		[letter, user, ago],
	);
	await owner.query(
		"insert into account_links (token_hash, purpose, expires_at) values (sha256(('setup ' || $1)::bytea), 'SETUP', now() - $2::interval)",
		[letter, ago],
	);
	await owner.query(
		"insert into sign_in_failures values (sha256($1::bytea), 1, now() - interval '15 minutes' - $2::interval, now() - $2::interval)",
		[letter, ago],
	);
}

async function counts(): Promise<Record<string, number>> {
	const { rows } = await database.owner.query(`
		select
			(select count(*)::int from sessions) as sessions,
			(select count(*)::int from verifications) as verifications,
			(select count(*)::int from account_links) as account_links,
			(select count(*)::int from sign_in_failures) as sign_in_failures`);
	return rows[0];
}

test("expired rows of sign-ins and links are removed, and valid ones stay", async () => {
	await addRows("a", "1 second");
	await addRows("b", "-1 minute");
	expect(await remove()).toEqual({
		sessions: 1,
		verifications: 1,
		account_links: 2,
		sign_in_failures: 1,
	});
	expect(await counts()).toEqual({
		sessions: 1,
		verifications: 1,
		account_links: 2,
		sign_in_failures: 1,
	});
	expect(await remove()).toEqual({});
});

test("an invitation is removed a month after it was accepted, was revoked or expired, in every organization", async () => {
	const add = (organizationId: string, email: string, times: string) =>
		database.owner.query(
			`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at, accepted_at, revoked_at)
			select $1, lpad(md5($2), 32), $2, 'viewer', sha256($2::bytea), 'Ada', ${times}`,
			[organizationId, email],
		);
	const one = await createOrganization(database.pool, "One");
	const other = await createOrganization(database.pool, "Other");
	const at = (days: number) => `now() - interval '${days} days'`;
	await add(one, "old@example.com", `${at(31)}, null, null`);
	await add(other, "accepted@example.com", `${at(29)}, ${at(31)}, null`);
	await add(one, "revoked@example.com", `${at(29)}, null, ${at(31)}`);
	await add(one, "expired@example.com", `${at(29)}, null, null`);
	await add(other, "joined@example.com", `${at(26)}, ${at(29)}, null`);
	await add(one, "open@example.com", `${at(-7)}, null, null`);
	expect(await remove()).toEqual({ invitations: 3 });
	const { rows } = await database.owner.query(
		"select email from invitations order by email",
	);
	expect(rows.map(({ email }) => email)).toEqual([
		"expired@example.com",
		"joined@example.com",
		"open@example.com",
	]);
});

test("rows are removed in batches, and a row that is in use is left for the next time", async () => {
	await database.owner.query(
		"insert into verifications (id, identifier, value, expires_at) select lpad(n::text, 32, 'v'), 'x', 'x', now() - interval '1 day' from generate_series(1, 12001) n",
	);
	const user = await database.owner.connect();
	await user.query("begin");
	await user.query(
		"select from verifications where id = lpad('7', 32, 'v') for update",
	);
	expect(await remove()).toEqual({ verifications: 12_000 });
	await user.query("commit");
	user.release();
	expect(await remove()).toEqual({ verifications: 1 });
});

test("processes that clean up at the same time remove each row once", async () => {
	await addRows("a", "1 day");
	const all = await Promise.all(Array.from({ length: 4 }, remove));
	const links = all.map(({ account_links = 0 }) => account_links);
	expect(links.reduce((sum, count) => sum + count)).toBe(2);
});

test("the service cleans up when it starts", async () => {
	const reach = async (url: string) => {
		const { Client } = await import("pg");
		const owner = new Client({ connectionString: url });
		await owner.connect();
		await owner.query(
			"insert into verifications (id, identifier, value, expires_at) values (repeat('v', 32), 'x', 'x', now() - interval '1 day')",
		);
		await owner.end();
		return url;
	};
	const running = await startService(reach, {}, undefined, undefined, 0);
	try {
		await expect
			.poll(
				async () =>
					(
						await running.database.owner.query(
							"select count(*)::int as left from verifications",
						)
					).rows,
			)
			.toEqual([{ left: 0 }]);
	} finally {
		await running.close();
	}
});
