import { afterAll, beforeAll, expect, test } from "vitest";
import { appendChanges } from "../../src/audit/log.ts";
import { withTenant } from "../../src/db/pool.ts";
import { personAsActor } from "../../src/my-devices/links.ts";
import type { Change } from "../../src/operation.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { joinOrganization, makeUser } from "../support/people.ts";
import { privacyCommands } from "./commands.ts";
import {
	addPerson,
	addUser,
	keepAnswer,
	MARKER,
	USER_MARKER,
} from "./personal-data.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const { run, allRows, rowsWith, verify } = privacyCommands(() => calls);

test("no table contains anything about an erased person, the person's records stay linked, and the log verifies", async () => {
	const other = await createOrganization(calls.database.pool, "Other");
	const elsewhere = await addPerson(
		calls,
		other,
		calls.principal("admin", other),
		"wombat",
	);
	const person = await addPerson(calls);
	const user = await makeUser(calls.database, {
		organizationId: organization_id,
		role: "member",
	});
	await keepAnswer(calls, user.id, "key", MARKER);
	const { snapshot } = await calls.call("takeSnapshot", {
		organization_id,
		name: "Before the erasure",
		type: "ALL",
	});
	const before = await verify();
	expect((await rowsWith(MARKER)).length).toBeGreaterThan(2);
	const othersBefore = await rowsWith(other.toLowerCase());

	const { code, stderr, result } = await run(
		...["person", "erase", "--org", organization_id, "--person", person.email],
	);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	expect(result).toMatchObject({
		id: person.id,
		name: expect.stringMatching(/^Erased person [0-9a-f]{12}$/),
		redacted_entries: 2,
		still_owns: 2,
		mentions: [],
		mentioned_in_entries: 0,
		redacted_versions: 2,
		mentioned_in_versions: 0,
		redacted_snapshots: 1,
		mentioned_in_snapshots: 0,
	});
	expect(await rowsWith(MARKER)).toEqual([]);
	const withDate = await rowsWith("2001-02-03");
	expect(withDate.filter((row) => !row.includes("wombat"))).toEqual([]);
	const { risk } = await calls.call("getRisk", { id: person.riskId });
	expect(risk.owner_id).toBe(person.id);
	const { people } = await calls.call("getPeople", { id: person.id });
	expect(people).toMatchObject({ full_name: result.name, kind: "EMPLOYEE" });

	const { snapshot: redacted } = await calls.call("getSnapshot", {
		id: snapshot.id,
		verify: true,
	});
	expect(redacted).toMatchObject({ sha256: snapshot.sha256, is_intact: true });
	expect(redacted.sha256_after_erasure).not.toBe(snapshot.sha256);
	const { snapshot_records } = await calls.call("listSnapshotRecords", {
		snapshot_id: snapshot.id,
		kind: "risk",
	});
	expect(snapshot_records).toMatchObject([
		{ fields: { owner_id: person.id, owner_name: result.name } },
	]);

	const after = await verify();
	expect(after.findings).toEqual([]);
	expect(after.redacted).toBe(2);
	expect(after.entries).toBe(before.entries + 2);
	expect(await rowsWith(other.toLowerCase())).toEqual(othersBefore);
	expect((await rowsWith("wombat")).length).toBeGreaterThan(2);
	expect((await verify(other)).findings).toEqual([]);
	expect(
		(
			await calls.call(
				"getPeople",
				{ id: elsewhere.id },
				calls.principal("admin", other),
			)
		).people.full_name,
	).toContain("wombat");
});

test("an erasure finds what the person did by mailed links, also in entries that contain the name", async () => {
	const person = await addPerson(calls);
	const other = await addPerson(calls, organization_id, undefined, "capybara");
	const append = (
		name: string,
		operation: "openMyDevices" | "signDocumentByLink",
		change: Change,
	) =>
		withTenant(calls.database.pool, organization_id, (client) =>
			appendChanges(
				client,
				{
					...personAsActor({ address: "203.0.113.77" }),
					name: `${name}, by a link`,
				},
				operation,
				organization_id,
				[change],
			),
		);
	const opened = (id: string) => ({
		kind: "people" as const,
		id,
		name: null,
		fields: { link: { after: "MAILED" } },
	});
	await append(`${MARKER} Jones`, "openMyDevices", opened(person.id));
	// The request for an exception names the person in its change.
	await append("the owner of a device", "openMyDevices", {
		kind: "device",
		id: person.deviceId,
		name: null,
		fields: { requested_by_person_id: { after: person.id } },
	});
	await append("a person who was asked to sign", "signDocumentByLink", {
		kind: "document",
		id: person.riskId,
		name: null,
		fields: { version_1_signature: { after: { person_id: person.id } } },
	});
	await append("Somebody else", "openMyDevices", opened(other.id));
	const { code } = await run(
		...["person", "erase", "--org", organization_id, "--person", person.id],
	);
	expect(code).toBe(0);
	const { rows } = await calls.database.owner.query(
		"select actor_name, address from audit_entries where actor_name like '%, by a link' or address like '203.0.113.77%'",
	);
	expect(rows).toMatchObject([{ actor_name: "Somebody else, by a link" }]);
	expect(rows[0].address).toContain("203.0.113.77");
	expect((await verify()).findings).toEqual([]);
});

test("nothing is left of a person who is erased twice or whose record was deleted before", async () => {
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: `${MARKER} Gone`,
		primary_email_address: `${MARKER}-gone@example.com`,
		kind: "CONTRACTOR",
	});
	await calls.call("deletePeople", { id: people.id });
	const args = ["person", "erase", "--org", organization_id, "--person"];
	const redacted = { redacted_entries: 2, redacted_versions: 1 };
	expect((await run(...args, people.id)).result).toMatchObject(redacted);
	expect(await rowsWith(MARKER)).toEqual([]);
	const nothing = { redacted_entries: 0, redacted_versions: 0 };
	expect((await run(...args, people.id)).result).toMatchObject(nothing);
	expect((await verify()).findings).toEqual([]);
});

test("an erasure removes the owner from devices if asked to, and reports names in texts of other records", async () => {
	const person = await addPerson(calls);
	const { people } = await calls.call("getPeople", { id: person.id });
	const { task } = await calls.call("addTask", {
		organization_id,
		name: `Ask ${people.full_name}`,
	});
	await calls.call("updateTask", { id: task.id, state: "DONE" });
	const { result } = await run(
		...["person", "erase", "--org", organization_id, "--person", person.id],
		"--clear-devices",
	);
	expect(result).toMatchObject({
		devices_without_owner: 1,
		still_owns: 1,
		mentions: [{ kind: "task", id: task.id }],
		mentioned_in_entries: 2,
		mentioned_in_versions: 1,
	});
	const { device } = await calls.call("getDevice", { id: person.deviceId });
	expect(device.owner_id).toBeNull();
});

test("a dry run lists what would be removed and changes nothing", async () => {
	const person = await addPerson(calls);
	const before = await allRows();
	const { result } = await run(
		...["person", "erase", "--org", organization_id, "--person", person.id],
		"--dry-run",
	);
	expect(result).toMatchObject({ redacted_entries: 2, is_dry_run: true });
	expect(await allRows()).toEqual(before);
});

test("a person's export contains the record, what the person owns, devices and entries, and no hash of a key", async () => {
	const person = await addPerson(calls);
	const { code, result } = await run(
		...["person", "export", "--org", organization_id, "--person", person.email],
	);
	expect(code).toBe(0);
	expect(result).toMatchObject({
		record: { id: person.id, primary_email_address: person.email },
		owns: [
			{ kind: "device", id: person.deviceId, as: "owner_id" },
			{ kind: "risk", id: person.riskId, as: "owner_id" },
		],
		devices: [{ id: person.deviceId }],
		audit_entries: [{ operation: "addPeople" }, { operation: "updatePeople" }],
	});
	expect(JSON.stringify(result)).not.toMatch(/hash/);
});

test("no table contains anything about an erased user, and the log verifies", async () => {
	const other = await createOrganization(calls.database.pool, "Left");
	const user = await addUser(calls, "admin");
	await joinOrganization(calls.database, user, other, "member");
	await makeUser(calls.database, {
		organizationId: organization_id,
		role: "admin",
	});
	expect((await rowsWith(USER_MARKER)).length).toBeGreaterThan(8);
	const { result: exported } = await run(
		"user",
		"export",
		"--email",
		user.email,
	);
	expect(exported).toMatchObject({
		user: { id: user.id, email: user.email },
		memberships: [{ role: "admin" }, { role: "member" }],
		provisioning: [{ is_active: true }],
		// The export also contains the session of the call that created the API token.
		sessions: expect.arrayContaining([
			expect.objectContaining({ ip_address: "192.0.2.77" }),
		]) as unknown,
		api_tokens: [
			{
				name: `${USER_MARKER}'s token`,
				app: `https://${USER_MARKER}.example/client`,
			},
		],
		api_token_usage: [{ calls: "1" }],
		idempotency_keys: [{ organization_id, operation: "addPeople" }],
	});
	expect(exported.audit_entries.length).toBeGreaterThan(3);
	expect(JSON.stringify(exported)).not.toMatch(/token_hash|password|secret/);

	const { code, stderr, result } = await run(
		"user",
		"erase",
		"--email",
		user.email,
	);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	expect(result).toMatchObject({ id: user.id, organizations_left: 2 });
	expect(await rowsWith(USER_MARKER)).toEqual([]);
	expect(await rowsWith("192.0.2.77")).toEqual([]);
	const { findings, redacted } = await verify();
	expect(findings).toEqual([]);
	expect(redacted).toBeGreaterThan(3);
	expect((await run("user", "erase", "--email", user.email)).code).toBe(1);
});

test("the last admin of an organization cannot be erased, and nothing changes", async () => {
	const alone = await createOrganization(calls.database.pool, "Alone");
	const user = await addUser(calls);
	await joinOrganization(calls.database, user, alone, "admin");
	const before = await allRows();
	const { code, stderr } = await run("user", "erase", "--email", user.email);
	expect(code).toBe(1);
	expect(stderr).toContain("last admin");
	expect(stderr).toContain(alone);
	expect(await allRows()).toEqual(before);
});
