import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashSecret, makeSecret } from "../../src/tokens/secret.ts";
import { makeReferences, type References } from "../support/record-values.ts";
import { statementsWith } from "../support/sent-statements.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let references: References;
beforeAll(async () => {
	tools = await shareTools();
	references = await makeReferences(
		{ call: (name, input) => tools.use(name, input) },
		tools.organizationId,
	);
});
afterAll(() => tools.close());

const countOf = async (kind: string) =>
	(await tools.use("countRecords", { kind })).total;

describe("rows", () => {
	test("are stored in the given order, with links and with the next free reference ids", async () => {
		const { records } = await tools.use("addRecords", {
			kind: "nonconformity",
			records: [
				{ description: "first", linked_record_ids: [references.measure[0]] },
				{ reference_id: "NC-001" },
				{ description: "third", linked_record_ids: references.measure },
			],
		});
		const all = await Promise.all(
			records.map(({ id }: Json) => tools.use("getNonconformity", { id })),
		);
		expect(
			all.map(({ nonconformity: { reference_id, description } }) => [
				reference_id,
				description,
			]),
		).toEqual([
			["NC-002", "first"],
			["NC-001", null],
			["NC-003", "third"],
		]);
		const links = await tools.use("listLinkedRecords", {
			record_id: records[2].id,
		});
		expect(links.total).toBe(2);
	});

	test("are all rejected if some are wrong, and one error names every wrong row and field", async () => {
		const before = await countOf("task");
		const [person] = references.people;
		const absent = (
			await tools.use("addMeasure", { name: "gone", category: "IT" })
		).measure.id;
		await tools.use("deleteMeasure", { id: absent });
		const { status, body } = await tools.call("addRecords", {
			kind: "task",
			records: [
				{ name: "fine", assigned_to_id: person },
				{ priority: "VERY" },
				{ name: "x", measure_id: absent, linked_record_ids: [absent] },
				{ name: "y", nonsense: 1 },
				{ name: "z", deadline: "soon" },
			],
		});
		expect(status).toBe(400);
		expect(body.message).toMatch(
			/^nothing was added, because 4 of 5 records are wrong: /,
		);
		expect(body.fields.map(({ field }: Json) => field).sort()).toEqual([
			"records[1].name",
			"records[1].priority",
			"records[2].linked_record_ids[0]",
			"records[2].measure_id",
			"records[3]",
			"records[4].deadline",
		]);
		expect(await countOf("task")).toBe(before);
	});

	test("that are wrong are all named, also those that are no objects", async () => {
		const { status, body } = await tools.call("addRecords", {
			kind: "measure",
			records: [{ name: "Backup", category: "IT" }, { name: "" }, 5, null],
		});
		expect(status).toBe(400);
		expect(body.message).toMatch(
			/^nothing was added, because 3 of 4 records are wrong: /,
		);
		expect(body.fields).toMatchObject([
			{ field: "records[1].name", message: "must not be empty" },
			{ field: "records[1].category", message: "is required" },
			{ field: "records[2]", message: "must be a JSON object" },
			{ field: "records[3]", message: "must be a JSON object" },
		]);
	});

	test("may not have the reference id of another record or row", async () => {
		await tools.use("addContinualImprovement", { reference_id: "CI-9" });
		const { body } = await tools.call("addRecords", {
			kind: "continual_improvement",
			records: [
				{ reference_id: "CI-9" },
				{ reference_id: "CI-8" },
				{ reference_id: "CI-8" },
			],
		});
		expect(body.fields).toMatchObject([
			{
				field: "records[0].reference_id",
				message: expect.stringContaining("another continual improvement"),
			},
			{
				field: "records[2].reference_id",
				message: expect.stringContaining("records[1]"),
			},
		]);
	});

	test("are 1 to 50", async () => {
		const records = (count: number) =>
			Array.from({ length: count }, () => ({ name: "Backup", category: "IT" }));
		for (const [count, status] of [
			[0, 400],
			[50, 200],
			[51, 400],
		] as const) {
			const answer = await tools.call("addRecords", {
				kind: "measure",
				records: records(count),
			});
			expect(answer.status).toBe(status);
		}
	});
});

test("a token that is limited to toolsets adds only records of these", async () => {
	const { rows } = await tools.database.owner.query(
		"select id from users where id = $1",
		[tools.admin.id],
	);
	const token = makeSecret("pat");
	await tools.database.owner.query(
		"insert into api_tokens (id, user_id, name, token_hash, toolsets) values (repeat('b', 32), $1, 'bulk', $2, '{bulk,measures}')",
		[rows[0].id, `\\x${hashSecret(token)}`],
	);
	const measure = {
		kind: "measure",
		records: [{ name: "Backup", category: "IT" }],
	};
	expect((await tools.call("addRecords", measure, token)).status).toBe(200);
	const { status, body } = await tools.call(
		"addRecords",
		{ kind: "framework", records: [{ name: "ISO" }] },
		token,
	);
	expect(status).toBe(403);
	expect(body.message).toContain("addFramework belongs to frameworks");
});

test("stores all records with one statement, but one each if they get reference ids", async () => {
	const count = async (table: string, kind: string, record: object) => {
		const add = () =>
			tools.use("addRecords", { kind, records: [record, record, record] });
		return (await statementsWith(`insert into ${table} `, add)).length;
	};
	const measure = { name: "Once", category: "Sites" };
	expect(await count("measures", "measure", measure)).toBe(1);
	const nonconformity = { title: "Once" };
	expect(await count("nonconformities", "nonconformity", nonconformity)).toBe(
		3,
	);
});
