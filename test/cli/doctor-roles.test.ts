import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { runCommand } from "../support/command.ts";
import {
	asSuperuser,
	createInstallation,
	type Installation,
	setUpWithSharedRoles,
} from "../support/installations.ts";
import { runDoctor } from "./run-doctor.ts";

async function examine({ url }: Installation, check: string) {
	const { findings } = await runDoctor({ DATABASE_URL: url });
	return findings.find((one) => one.check === check);
}

const loginOf = ({ url }: Installation) => new URL(url).username;

test("before an upgrade, doctor says whether the login may make the roles, and changes nothing", async () => {
	const one = await createInstallation();
	await setUpWithSharedRoles(one);
	expect(await examine(one, "roles")).toMatchObject({
		status: "ok",
		found: "the login may make the roles that the migrations need",
	});
	await asSuperuser(async (client) => {
		await client.query(`alter role ${loginOf(one)} nocreaterole`);
		const { rowCount } = await client.query(
			"select from pg_roles where rolname = $1",
			[`assay_app_${one.name}`],
		);
		expect(rowCount).toBe(0);
	});
	const missing = await examine(one, "roles");
	expect(missing).toMatchObject({ status: "problem" });
	expect(missing?.found).toContain(`create role assay_app_${one.name} nologin`);
	expect(missing?.found).toContain(`grant assay_app_${one.name} to assay_app;`);
	const statements = missing?.found.slice(
		missing.found.indexOf("create role "),
	);
	await asSuperuser((client) => client.query(statements ?? ""));
	expect(await examine(one, "roles")).toMatchObject({
		status: "ok",
		found: "the migrations find every role that they need",
	});
	await migrate({ connectionString: one.url });
	expect(await examine(one, "tenancy")).toMatchObject({ status: "ok" });
});

/** An installation that is set up, and the login of another one. */
let two: { one: Installation; other: Installation };
beforeAll(async () => {
	two = {
		one: await createInstallation({ dropAt: afterAll }),
		other: await createInstallation({ dropAt: afterAll }),
	};
	await migrate({ connectionString: two.one.url });
});

test("doctor names the logins that may create roles where these reach every role, before PostgreSQL 16", async () => {
	const { one, other } = two;
	const { rows } = await asSuperuser((client) =>
		client.query<{ reaches: boolean }>(
			"select current_setting('server_version_num')::integer < 160000 as reaches",
		),
	);
	const found = async () => (await examine(one, "separation"))?.found ?? "";
	const named = new RegExp(`can take every role.*?: [^;]*${loginOf(other)}`);
	expect(named.test(await found())).toBe(rows[0]?.reaches);
	await asSuperuser((client) =>
		client.query(`alter role ${loginOf(other)} nocreaterole`),
	);
	expect(named.test(await found())).toBe(false);
});

test("doctor names the other logins that reach the database, and separate closes it to them", async () => {
	const { one, other } = two;
	await asSuperuser((client) =>
		client.query(`grant assay_backup_${one.name} to ${loginOf(other)}`),
	);
	// Other tests make and drop logins on this server meanwhile, so only this one is looked for.
	const expectOtherNamed = async () => {
		const finding = await examine(one, "separation");
		expect(finding?.status).toBe("warning");
		expect(finding?.found).toMatch(
			new RegExp(`can read this database: [^;]*${loginOf(other)}\\b`),
		);
		expect(finding?.found).toMatch(
			new RegExp(`because everyone may: [^;]*${loginOf(other)}\\b`),
		);
	};
	await expectOtherNamed();

	const settings = { DATABASE_URL: one.url };
	const said = await runCommand(["separate"], settings);
	expect(said.stdout).toContain(loginOf(other));
	expect(said.stdout).toContain("Nothing was changed");
	await expectOtherNamed();

	const done = await runCommand(["separate", "--yes", "--json"], settings);
	expect(JSON.parse(done.stdout)).toMatchObject({
		is_done: true,
		lose_connect: expect.arrayContaining([loginOf(other)]) as string[],
	});
	await asSuperuser((client) =>
		client.query(`revoke assay_backup_${one.name} from ${loginOf(other)}`),
	);
	const after = await examine(one, "separation");
	expect(after?.found).not.toMatch(/because everyone may|can read/);
	const again = await runCommand(["separate"], settings);
	expect(again.stdout).toContain("is separate");
});
