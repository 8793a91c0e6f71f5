import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { postureResult } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const inOrganization = (tool: string, input: object = {}): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const addRisk = async (name: string, more: object = {}): Promise<Json> =>
	(
		await inOrganization("addRisk", {
			name,
			category: "Cloud",
			treatment: "MITIGATED",
			inherent_likelihood: 3,
			inherent_impact: 4,
			...more,
		})
	).risk;

const addOwner = async (full_name: string): Promise<Json> =>
	(
		await inOrganization("addPeople", {
			full_name,
			kind: "EMPLOYEE",
			primary_email_address: `${full_name.toLowerCase()}@example.com`,
		})
	).people;

const take = async (type: string, more: object = {}): Promise<Json> =>
	(
		await inOrganization("takeSnapshot", {
			name: `Some ${type}`,
			type,
			...more,
		})
	).snapshot;

const recordsOf = async (snapshot_id: string, more: object = {}) =>
	(
		await tools.use("listSnapshotRecords", {
			snapshot_id,
			size: 100,
			...more,
		})
	).snapshot_records as Json[];

async function download(id: string, token = tools.viewer.token) {
	const answer = await fetch(`${tools.url}/api/files/${id}`, {
		headers: { authorization: `Bearer ${token}` },
	});
	return { answer, text: await answer.text() };
}

test("a snapshot keeps records with owners and links as they were, whatever happens to them later", async () => {
	const owner = await addOwner("Ida");
	const { measure } = await inOrganization("addMeasure", {
		name: "Patch weekly",
		category: "Operations",
	});
	const kept = await addRisk("Old servers", {
		owner_id: owner.id,
		linked_record_ids: [measure.id],
	});
	const gone = await addRisk("Gone soon");
	const snapshot = await take("RISKS", { description: "For the audit" });
	expect(snapshot).toMatchObject({
		name: "Some RISKS",
		type: "RISKS",
		description: "For the audit",
		counts: { risk: 2 },
		sha256_after_erasure: null,
	});
	await tools.use("updateRisk", { id: kept.id, name: "New servers" });
	await tools.use("unlinkRecords", {
		record_id: kept.id,
		linked_record_id: measure.id,
	});
	await tools.use("deleteRisk", { id: gone.id });
	const added = await addRisk("A third one");

	const records = await recordsOf(snapshot.id);
	expect(records.map(({ name }) => name)).toEqual(["Gone soon", "Old servers"]);
	expect(records[1]).toMatchObject({
		id: kept.id,
		kind: "risk",
		fields: {
			name: "Old servers",
			inherent_impact: 4,
			owner_id: owner.id,
			owner_name: "Ida",
			linked_record_ids: [measure.id],
			linked_record_names: ["Patch weekly"],
		},
	});
	expect(
		(await recordsOf(snapshot.id, { query: "serv" })).map(({ id }) => id),
	).toEqual([kept.id]);

	const { differences, counts } = await tools.use("listSnapshotDifferences", {
		snapshot_id: snapshot.id,
	});
	expect(counts).toEqual({ ADDED: 1, CHANGED: 1, REMOVED: 1 });
	const byId = new Map(
		(differences as Json[]).map((one) => [one.id as string, one]),
	);
	expect(byId.get(kept.id)).toEqual({
		id: kept.id,
		kind: "risk",
		name: "New servers",
		change: "CHANGED",
		fields: {
			name: { before: "Old servers", after: "New servers" },
			linked_record_ids: { before: [measure.id], after: [] },
		},
	});
	expect(byId.get(gone.id)).toMatchObject({ change: "REMOVED", fields: {} });
	expect(byId.get(added.id)).toMatchObject({ change: "ADDED", fields: {} });
	const removed = await tools.use("listSnapshotDifferences", {
		snapshot_id: snapshot.id,
		change: "REMOVED",
	});
	expect(removed.differences.map(({ id }: Json) => id)).toEqual([gone.id]);
});

test("nothing differs right after a snapshot of everything", async () => {
	await tools.activateDevice();
	const { id } = await take("ALL");
	const { counts } = await tools.use("listSnapshotDifferences", {
		snapshot_id: id,
	});
	expect(counts).toEqual({ ADDED: 0, CHANGED: 0, REMOVED: 0 });
});

test("the pages of a comparison have every difference once", async () => {
	const { id } = await take("RISKS");
	for (let n = 0; n < 5; n++) await addRisk(`Page ${n}`);
	const seen: string[] = [];
	let cursor: string | null = null;
	do {
		const page: Json = await tools.use("listSnapshotDifferences", {
			snapshot_id: id,
			size: 2,
			cursor,
		});
		expect(page.counts.ADDED).toBe(5);
		seen.push(...page.differences.map((one: Json) => one.name));
		cursor = page.next_cursor;
	} while (cursor);
	expect(seen.sort()).toEqual([0, 1, 2, 3, 4].map((n) => `Page ${n}`));
});

test("the file of a snapshot has a line for each record, and its SHA-256 is the hash", async () => {
	for (let n = 0; n < 30; n++) await addRisk(`Line ${n}`);
	const snapshot = await take("RISKS", { name: "Risks 1/2" });
	const { answer, text } = await download(snapshot.id);
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-disposition")).toContain(
		'filename="Risks 1_2.jsonl"',
	);
	const lines = text
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(lines).toHaveLength(snapshot.counts.risk);
	expect(lines.every(({ kind, id }) => kind === "risk" && id)).toBe(true);
	expect(createHash("sha256").update(text).digest("hex")).toBe(snapshot.sha256);
	const { snapshot: verified } = await tools.use("getSnapshot", {
		id: snapshot.id,
		verify: true,
	});
	expect(verified.is_intact).toBe(true);
	expect((await download(snapshot.id, "asy_pat_wrong")).answer.status).toBe(
		401,
	);
});

test("a changed row is found, and the service itself may change none", async () => {
	const { id } = await take("RISKS");
	await expect(
		withTenant(tools.database.pool, tools.organizationId, (client) =>
			client.query("update snapshot_records set name = 'x'"),
		),
	).rejects.toThrow(/permission denied/);
	await tools.database.owner.query(
		`update snapshot_records set fields = fields || '{"name": "forged"}' where snapshot_id = $1`,
		[id],
	);
	const { snapshot } = await tools.use("getSnapshot", { id, verify: true });
	expect(snapshot.is_intact).toBe(false);
});

test("devices are kept with the state of each check", async () => {
	const device = await tools.activateDevice();
	await tools.use("updateDevice", { id: device.id, name: "Ida's laptop" });
	await tools.post(
		"postures",
		{ results: [postureResult({ status: "PASS" })] },
		{ key: device.key },
	);
	const snapshot = await take("DEVICES");
	expect(snapshot.counts.device).toBeGreaterThan(0);
	const [record] = await recordsOf(snapshot.id, { query: "laptop" });
	expect(record?.fields).toMatchObject({
		name: "Ida's laptop",
		status: "ACTIVE",
		compliance: "UNKNOWN",
		checks: { DISK_ENCRYPTION: "PASSING" },
	});
	await tools.use("updateDevice", { id: device.id, name: "A laptop" });
	const { differences } = await tools.use("listSnapshotDifferences", {
		snapshot_id: snapshot.id,
		change: "CHANGED",
	});
	expect(differences).toMatchObject([
		{
			id: device.id,
			fields: { name: { before: "Ida's laptop", after: "A laptop" } },
		},
	]);
});

test("a snapshot is linked to a control, named in the audit log, and deleted by an administrator only", async () => {
	const snapshot = await take("MEASURES");
	const risk = await addRisk("Linked to a snapshot");
	await tools.use("linkRecords", {
		record_id: risk.id,
		linked_record_id: snapshot.id,
	});
	const { linked_records } = await tools.use("listLinkedRecords", {
		record_id: risk.id,
	});
	expect(linked_records).toMatchObject([
		{ id: snapshot.id, kind: "snapshot", name: "Some MEASURES", status: null },
	]);
	const refused = await tools.call(
		"deleteSnapshot",
		{ id: snapshot.id },
		tools.member.token,
	);
	expect(refused.status).toBe(403);
	await tools.use("deleteSnapshot", { id: snapshot.id });
	expect((await tools.call("getSnapshot", { id: snapshot.id })).status).toBe(
		404,
	);
	const after = await tools.use("listLinkedRecords", { record_id: risk.id });
	expect(after.linked_records).toEqual([]);
	const { audit_entries: entries } = await inOrganization("listAuditLog", {
		filter: { record_id: snapshot.id, outcome: "DONE" },
	});
	expect(entries.map(({ operation }: Json) => operation)).toEqual([
		"deleteSnapshot",
		"linkRecords",
		"takeSnapshot",
	]);
	expect(entries[0].changes.sha256.before).toBe(snapshot.sha256);
});

test("wrong input names the field", async () => {
	const { id } = await take("RISKS");
	for (const [tool, input, message] of [
		["takeSnapshot", { name: "", type: "RISKS" }, /name/],
		["takeSnapshot", { name: "x", type: "CATS" }, /type: must be one of/],
		[
			"listSnapshotRecords",
			{ snapshot_id: id, kind: "vendor" },
			/kind: must be one of.*: risk/,
		],
		[
			"listSnapshotDifferences",
			{ snapshot_id: id, kind: "device" },
			/kind: must be one of.*: risk/,
		],
		[
			"listSnapshotDifferences",
			{ snapshot_id: id, cursor: "nonsense" },
			/cursor/,
		],
		[
			"listSnapshotRecords",
			{ snapshot_id: tools.organizationId },
			/snapshot_id/,
		],
	] as const) {
		const { status, body } = await tools.call(tool, {
			...(tool === "takeSnapshot" && { organization_id: tools.organizationId }),
			...input,
		});
		expect(status, tool).toBe(400);
		expect(body.message).toMatch(message);
	}
	const viewer = await tools.call(
		"takeSnapshot",
		{ organization_id: tools.organizationId, name: "x", type: "RISKS" },
		tools.viewer.token,
	);
	expect(viewer.status).toBe(403);
});
