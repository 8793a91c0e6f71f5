import { afterAll, beforeAll, expect, test } from "vitest";
import { addDeviceGroup } from "../../src/devices/group-operations.ts";
import { makeId } from "../../src/id.ts";
import { invoke } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let settings: Record<string, string>;
let org: string;
beforeAll(async () => {
	database = await createDatabase();
	settings = { DATABASE_URL: database.url };
	org = await createOrganization(database.pool, "Acme");
});
afterAll(() => database.drop());

async function device(...command: string[]) {
	const { code, stdout, stderr } = await runCommand(
		["device", ...command, "--org", org, "--json"],
		settings,
	);
	return { code, stderr, data: stdout === "" ? undefined : JSON.parse(stdout) };
}

test("commands create a device with an owner, revoke it and issue a new token, and each step is in the audit log", async () => {
	const owner = makeId(org, "people");
	const refused = await device("create", "--owner", owner);
	expect(refused).toMatchObject({ code: 1, data: undefined });
	expect(refused.stderr).toBe(
		`assay: owner_id: must be the id of a person in this organization, not ${owner}; listPeople returns the ids\n`,
	);
	await database.owner.query(
		"insert into people (organization_id, id, full_name, primary_email_address, kind) values ($1, $2, 'Ada', 'ada@example.com', 'EMPLOYEE')",
		[org, owner],
	);
	const { data: made } = await device("create", "--owner", owner);
	const id: string = made.device_id;
	const { data: shown } = await device("show", id);
	expect(shown).toMatchObject({
		device: { id, owner_id: owner, status: "PENDING", postures: [] },
		conflicts: [],
	});

	expect((await device("revoke", id)).data.device.status).toBe("REVOKED");
	const { data: reissued } = await device("reissue", id);
	expect(reissued).toEqual({
		...made,
		enrollment_token_id: expect.any(String),
		enrollment_token: expect.stringMatching(/^asy_enr_/),
		expires_at: expect.any(String),
	});
	expect(reissued.enrollment_token).not.toBe(made.enrollment_token);
	expect((await device("list")).data.devices).toMatchObject([
		{ id, status: "PENDING", revoked_at: null },
	]);

	const { rows } = await database.owner.query<{
		operation: string;
		actor_kind: string;
		actor_name: string;
	}>(
		"select operation, actor_kind, actor_name from audit_entries where record_id = $1 order by id",
		[id],
	);
	expect(rows.map(({ operation }) => operation)).toEqual([
		"addDevice",
		"revokeDevice",
		"reissueEnrollmentToken",
	]);
	for (const { actor_kind, actor_name } of rows) {
		expect(actor_kind).toBe("SYSTEM");
		expect(actor_name).toMatch(/^command line, \S+$/);
	}
});

test("a device is deleted only with --yes, and the audit log records it", async () => {
	const { data: made } = await device("create", "--name", "nb-7");
	const id: string = made.device_id;
	const refused = await device("delete", id);
	expect([refused.code, refused.data]).toEqual([1, undefined]);
	expect(refused.stderr).toContain("(nb-7), PENDING, was not deleted");
	expect((await device("show", id)).code).toBe(0);

	expect(await device("delete", id, "--yes")).toMatchObject({
		code: 0,
		data: { deleted_device_id: id },
	});
	expect((await device("show", id)).code).toBe(1);
	const { rows } = await database.owner.query(
		"select operation, actor_kind from audit_entries where record_id = $1 order by id",
		[id],
	);
	expect(rows).toEqual([
		{ operation: "addDevice", actor_kind: "SYSTEM" },
		{ operation: "deleteDevice", actor_kind: "SYSTEM" },
	]);
});

test("an enrollment key is created with its secret once, listed and revoked", async () => {
	const key = async (...command: string[]) => {
		const { code, stdout, stderr } = await runCommand(
			["enrollment-key", ...command, "--org", org, "--json"],
			settings,
		);
		return { code, stderr, data: stdout === "" ? {} : JSON.parse(stdout) };
	};
	const missing = await key("create", "--name", "Laptops");
	expect(missing.code).toBe(2);
	expect(missing.stderr).toContain("--max-devices");
	const { data: made } = await key(
		"create",
		...["--name", "Laptops", "--max-devices", "500", "--require-approval"],
	);
	expect(made).toMatchObject({
		enrollment_key: expect.stringMatching(/^asy_enk_/),
		key: { max_devices: 500, requires_approval: true, state: "OPEN" },
	});
	const { data: revoked } = await key("revoke", made.key.id);
	expect(revoked.key.state).toBe("REVOKED");
	const { data: listed } = await key("list");
	expect(listed).toEqual({ enrollment_keys: [revoked.key] });
	const { stdout } = await runCommand(
		["enrollment-key", "list", "--org", org],
		settings,
	);
	expect(stdout).toMatch(/REVOKED +0 of 500 +0 .* - +Laptops/);
	expect((await key("revoke", makeId(org, "enrollment_key"))).code).toBe(1);
});

test("an enrollment key is created for a group by its name or id, and the list names the group", async () => {
	const { pool } = database;
	const services = { pool, log: makeLogger("silent"), baseUrl: "http://x" };
	const { device_group: group } = await invoke(
		services,
		systemPrincipal(org),
		addDeviceGroup,
		{ organization_id: org, name: "Berlin" },
	);
	const create = (of: string) =>
		runCommand(
			[
				...["enrollment-key", "create", "--org", org, "--name", "Interns"],
				...["--max-devices", "5", "--group", of],
			],
			settings,
		);
	const unknown = await create("Paris");
	expect(unknown.code).toBe(1);
	expect(unknown.stderr).toContain("no group of the organization");
	for (const nameOrId of ["Berlin", group.id]) {
		expect((await create(nameOrId)).stdout).toContain("join the group Berlin");
	}
	const { stdout } = await runCommand(
		["enrollment-key", "list", "--org", org],
		settings,
	);
	expect(stdout.match(/ Berlin +Interns/g)).toHaveLength(2);
});

test("text from a device cannot forge a line of the list or send a command to the terminal", async () => {
	const { data: made } = await device("create", "--name", "honest");
	await database.owner.query("update devices set hostname = $1 where id = $2", [
		"h\r\n\u001b[2Jforged  ACTIVE\u009b31m",
		made.device_id,
	]);
	const { stdout } = await runCommand(
		["device", "list", "--org", org],
		settings,
	);
	const line = stdout.split("\n").find((one) => one.includes("honest"));
	expect(line).toContain("h\ufffd\ufffd\ufffd[2Jforged  ACTIVE\ufffd31m");
	expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
});

test.each([
	"show",
	"revoke",
	"reissue",
	"delete",
])("device %s with the id of a missing device or of another record exits with 1 and prints a sentence", async (command) => {
	for (const id of ["nonsense", makeId(org, "device")]) {
		const { code, data, stderr } = await device(command, id);
		expect(code).toBe(1);
		expect(data).toBeUndefined();
		expect(stderr).toContain(`there is no device ${id}`);
	}
});
