import { afterAll, beforeAll, expect, test } from "vitest";
import { removeLeftovers } from "../../src/retention/expired-rows.ts";
import { byName } from "../support/every-tool.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

let made = 0;
const newKey = () => `key ${++made}`;
const measure = (fields: object = {}) => ({
	name: "Backup",
	category: "IT",
	...fields,
});
const countOf = async (query: string) =>
	(await tools.use("countRecords", { kind: "measure", filter: { query } }))
		.total;

test("a repeated call answers with the first result and adds nothing, even after a change", async () => {
	const input = measure({ name: "Repeated", idempotency_key: newKey() });
	const first = await tools.use("addMeasure", input);
	await tools.use("updateMeasure", {
		id: first.measure.id,
		description: "changed",
	});
	// The order of the properties makes no difference.
	const again = Object.fromEntries(Object.entries(input).reverse());
	expect(await tools.use("addMeasure", again)).toEqual(first);
	expect(await countOf("Repeated")).toBe(1);
	const { audit_entries } = await tools.use("listAuditLog", {
		filter: { record_id: first.measure.id, operation: "addMeasure" },
	});
	expect(audit_entries).toHaveLength(1);
});

test("addRecords answers a repeated call in the same way", async () => {
	const input = {
		kind: "measure",
		records: [measure({ name: "Bulk" }), measure({ name: "Bulk" })],
		idempotency_key: newKey(),
	};
	const first = await tools.use("addRecords", input);
	expect(await tools.use("addRecords", input)).toEqual(first);
	expect(await countOf("Bulk")).toBe(2);
});

test("the same key with another input is an error that names the field", async () => {
	const idempotency_key = newKey();
	await tools.use("addMeasure", measure({ idempotency_key }));
	const { status, body } = await tools.call(
		"addMeasure",
		measure({ name: "Other", idempotency_key }),
	);
	expect(status).toBe(400);
	expect(body.fields[0].field).toBe("idempotency_key");
	expect(body.message).toContain("use a new key");
	expect(await countOf("Other")).toBe(0);
});

test("a key belongs to one user and one tool", async () => {
	const idempotency_key = newKey();
	const input = measure({ name: "Whose", idempotency_key });
	const [one, two] = await Promise.all(
		[tools.admin, tools.member].map(({ token }) =>
			tools.use("addMeasure", input, token),
		),
	);
	expect(one.measure.id).not.toBe(two.measure.id);
	await tools.use("addFramework", { name: "ISO", idempotency_key });
	const theirs = await tools.use("addMeasure", input, tools.stranger.token);
	expect(theirs.measure.organization_id).toBe(tools.otherOrganizationId);
});

test("simultaneous calls with the same key add one record and get the same answer", async () => {
	const input = measure({ name: "Simultaneous", idempotency_key: newKey() });
	const answers = await Promise.all(
		Array.from({ length: 10 }, () => tools.use("addMeasure", input)),
	);
	expect(new Set(answers.map(({ measure }) => measure.id)).size).toBe(1);
	expect(await countOf("Simultaneous")).toBe(1);
});

test("a call that fails leaves its key unused", async () => {
	const idempotency_key = newKey();
	const wrong = {
		name: "Failed",
		category: "IT",
		owner_id: tools.organizationId,
	};
	expect(
		(await tools.call("addMeasure", { ...wrong, idempotency_key })).status,
	).toBe(400);
	const { risk } = await tools.use("addRisk", {
		name: "Gone",
		category: "IT",
		treatment: "AVOIDED",
		inherent_likelihood: 1,
		inherent_impact: 1,
	});
	await tools.use("deleteRisk", { id: risk.id });
	const missing = measure({ linked_record_ids: [risk.id], idempotency_key });
	expect((await tools.call("addMeasure", missing)).status).toBe(400);
	await tools.use("addMeasure", measure({ idempotency_key }));
});

test("after 24 hours a key is forgotten, and the clean-up removes its row", async () => {
	const input = { ...measure({ name: "Late" }), idempotency_key: newKey() };
	const first = await tools.use("addMeasure", input);
	const age = (interval: string) =>
		tools.database.owner.query(
			"update idempotency_keys set created_at = now() - $1::interval where key = $2",
			[interval, input.idempotency_key],
		);
	await age("23 hours 59 minutes");
	expect(await tools.use("addMeasure", input)).toEqual(first);
	await age("24 hours 1 minute");
	const second = await tools.use("addMeasure", input);
	expect(second.measure.id).not.toBe(first.measure.id);
	expect(await tools.use("addMeasure", input)).toEqual(second);
	await age("24 hours 1 minute");
	expect(
		await removeLeftovers({ connectionString: tools.database.url }),
	).toEqual({
		idempotency_keys: 1,
	});
});

test("a repeated add of a group of devices gets the first answer, not an error about the name", async () => {
	const input = { name: "Laptops", idempotency_key: newKey() };
	const first = await tools.use("addDeviceGroup", input);
	expect(await tools.use("addDeviceGroup", input)).toEqual(first);
});

test("every tool that adds records takes a key, except those whose answers have a secret and one that adds nothing twice", () => {
	const withoutKey = ["addDevice", "addEnrollmentKey", "addStarters"];
	const adding = byName.filter(([name]) => name.startsWith("add"));
	expect(adding.length).toBeGreaterThan(13);
	for (const [name, { definition }] of adding) {
		const { properties } = definition.inputSchema as Json;
		expect("idempotency_key" in properties, name).toBe(
			!withoutKey.includes(name),
		);
	}
});
