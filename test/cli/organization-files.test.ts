import { readFileSync, statSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import { query } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { startTools, type TestTools } from "../support/tools.ts";

/** The installation that the organization leaves, and the one that it moves to. */
let from: TestTools;
let to: TestTools;
let folder: string;
let file: string;
let email: string;
/** Two devices that had keys. */
let devices: { id: string; hardwareUuid: string; key: string }[];
beforeAll(async () => {
	[from, to] = await Promise.all([startTools(), startTools()]);
	folder = await makeFolder("assay-organization-");
	file = join(folder, "acme");
	devices = await from.activateDevices(2);
	for (const { key } of devices) {
		await from.post("postures", { results: [postureResult()] }, { key });
	}
	await orgOf(from, "suspend", from.organizationId, "--reason", "It moves.");
	const [admin] = await query<{ email: string }>(
		to.database.url,
		"select u.email from users u join memberships m on m.user_id = u.id where m.role = 'admin' and m.organization_id = $1",
		[to.organizationId],
	);
	email = admin?.email ?? "";
});
afterAll(async () => {
	await from.close();
	await to.close();
	await rm(folder, { recursive: true, force: true });
});

const run = (
	{ database }: Pick<TestTools, "database">,
	args: string[],
	settings: Record<string, string> = {},
) => runCommand(args, { DATABASE_URL: database.url, ...settings });
const orgOf = (of: Pick<TestTools, "database">, ...args: string[]) =>
	run(of, ["org", ...args]);

async function enroll(token: string): Promise<string> {
	const answer = await to.post("enroll", { token });
	return ((await answer.json()) as { api_key: string }).api_key;
}

test("a suspended organization moves to a running installation, where its administrator finds everything", async () => {
	const id = from.organizationId;
	const exported = await orgOf(from, "export", id, file);
	expect(exported, exported.stderr).toMatchObject({ code: 0 });
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(exported.stdout).toContain("The audit log is sound");
	const [expected] = exported.stdout.match(/[\w-]{32}:\d+:[0-9a-f]{64}/) ?? [];
	if (!expected) throw new Error(exported.stdout);

	const imported = await orgOf(to, "import", file, "--admin", email);
	expect(imported, imported.stderr).toMatchObject({ code: 0 });
	expect(imported.stdout).toContain(`Imported Acme (${id})`);
	expect(imported.stdout).toContain("These people were members.");
	expect(imported.stdout).toContain(`${email} is the administrator`);
	const verified = await run(to, [
		"audit",
		"verify",
		"--org",
		id,
		"--expect",
		expected,
	]);
	expect(verified, verified.stdout).toMatchObject({ code: 0 });

	const { devices: found } = await to.use("listDevices", {
		organization_id: id,
	});
	expect(found.map((one: { id: string }) => one.id).sort()).toEqual(
		devices.map((one) => one.id).sort(),
	);
	const { members } = await to.use("listMembers", { organization_id: id });
	expect(members).toMatchObject([{ email, role: "admin" }]);
	const { audit_entries: entries } = await to.use("listAuditLog", {
		organization_id: id,
		size: 3,
	});
	expect(entries.map((one: { operation: string }) => one.operation)).toContain(
		"importOrganization",
	);

	const again = await orgOf(to, "import", file);
	expect(again.code).toBe(1);
	expect(again.stderr).toContain(`(${id}) exists in this database`);
});

test("an export names the files of the archive whose reports it does not contain", async () => {
	const id = from.organizationId;
	await from.database.owner.query(
		`insert into archive_files
		select $1, '2024-01-01', n, 'file ' || n, $2, $2, 9, 999, sha256('x'), now(), n = 1
		from generate_series(1, 2) n`,
		[id, devices[0]?.id],
	);
	const exported = await orgOf(from, "export", id, join(folder, "archived"));
	expect(exported.stdout).toContain(
		"It does not contain the older reports in 1 file of the archive.",
	);
	expect(exported.stdout).toContain(`the folder organization_id=${id}`);
	await from.database.owner.query("delete from archive_files");
	const later = await orgOf(from, "export", id, join(folder, "all"), "--json");
	expect(JSON.parse(later.stdout)).toMatchObject({ archived_files: 0 });
});

test("the key of before is unknown, and a new token continues the history of the device", async () => {
	const [device] = devices;
	if (!device) throw new Error("there is no device");
	const body = heartbeatBody({ hardware_uuid: device.hardwareUuid });
	expect((await to.post("heartbeat", body, { key: device.key })).status).toBe(
		401,
	);
	const { enrollment_token: token } = await to.use("reissueEnrollmentToken", {
		id: device.id,
	});
	const key = await enroll(token);
	const answer = await to.post("heartbeat", body, { key });
	expect(await answer.json()).toMatchObject({ device_id: device.id });
	const { device: read } = await to.use("getDevice", { id: device.id });
	expect(read.postures).toHaveLength(1);
});

test("a device that enrolls with a key of the organization is the same device after one click", async () => {
	const [, device] = devices;
	if (!device) throw new Error("there is no device");
	const { enrollment_key: token } = await to.use("addEnrollmentKey", {
		organization_id: from.organizationId,
		name: "After the move",
		max_devices: 500,
	});
	const key = await enroll(token);
	const body = heartbeatBody({ hardware_uuid: device.hardwareUuid });
	expect((await to.post("heartbeat", body, { key })).status).toBe(400);
	const { devices: waiting } = await to.use("listDevices", {
		organization_id: from.organizationId,
		filter: { conflict: "DUPLICATE_HARDWARE" },
	});
	const { replaced } = await to.use("replaceDevices", {
		organization_id: from.organizationId,
		devices: waiting.map((one: { id: string }) => ({
			...{ device_id: one.id, predecessor_id: device.id },
		})),
	});
	expect(replaced).toMatchObject([{ predecessor_id: device.id }]);
	expect((await to.post("heartbeat", body, { key })).status).toBe(200);
});

test("an export is encrypted as backups are, and a file that is no export is refused by name", async () => {
	const identity = await generateX25519Identity();
	writeFileSync(join(folder, "identity"), identity);
	const name = join(folder, "encrypted");
	const exported = await run(
		from,
		["org", "export", from.organizationId, name, "--json"],
		{ ASSAY_BACKUP_RECIPIENTS: await identityToRecipient(identity) },
	);
	expect(JSON.parse(exported.stdout)).toMatchObject({
		recipients: 1,
		organization: { id: from.organizationId, name: "Acme" },
		devices: 2,
		audit_problems: [],
	});
	expect(readFileSync(name, "latin1")).toMatch(/^age-encryption/);
	const empty = { database: await createDatabaseForTest() };
	const refused = await orgOf(empty, "import", name);
	expect(refused.stderr).toContain("the file is encrypted");
	const settings = { ASSAY_BACKUP_IDENTITY_FILE: join(folder, "identity") };
	const verified = await run(empty, ["backup", "--verify", name], settings);
	expect(verified.stdout).toContain(
		"The export is intact. It shows the organization Acme",
	);
	const imported = await run(empty, ["org", "import", name], settings);
	expect(imported.stdout).toContain(
		`user create --org ${from.organizationId} --role admin`,
	);
	writeFileSync(join(folder, "text"), "no export");
	const wrong = await orgOf(empty, "import", join(folder, "text"));
	expect(wrong.stderr).toContain("no export of an organization");
});

test("nothing is written for an organization that does not exist, and nothing imported for an unknown administrator", async () => {
	const before = await readdir(folder);
	const unknown = `${from.organizationId.slice(0, -2)}AA`;
	const { code, stderr } = await orgOf(
		from,
		"export",
		unknown,
		join(folder, "none"),
	);
	expect(code).toBe(1);
	expect(stderr).toContain(`there is no organization ${unknown}`);
	expect(await readdir(folder)).toEqual(before);
	const empty = { database: await createDatabaseForTest() };
	const refused = await orgOf(
		empty,
		"import",
		file,
		"--admin",
		"nobody@example.com",
	);
	expect(refused.stderr).toContain("there is no user nobody@example.com");
	expect(await query(empty.database.url, "select from organizations")).toEqual(
		[],
	);
});
