import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeIdWithoutTenant } from "../../src/id.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const add = async (fields: object): Promise<Json> =>
	(await tools.use("addNonconformity", fields)).nonconformity;

describe("the name of a record with a reference id", () => {
	/** Returns the name of the record wherever tools give one, which must be the same everywhere. */
	const nameOf = async (id: string, query: string): Promise<string> => {
		const { measure } = await tools.use("addMeasure", {
			name: "Linked",
			category: "IT",
			linked_record_ids: [id],
		});
		const { linked_records } = await tools.use("listLinkedRecords", {
			record_id: measure.id,
		});
		const { records } = await tools.use("searchRecords", { query });
		const { audit_entries } = await tools.use("listAuditLog", {
			filter: { record_id: id },
		});
		const found = records.find((record: Json) => record.id === id);
		const names = [
			linked_records[0].name,
			found.name,
			...audit_entries.map(({ record_name }: Json) => record_name),
		];
		expect(new Set(names).size).toBe(1);
		return names[0];
	};

	test("is the id and the title, or the id and the beginning of the description", async () => {
		const long = `${"ä🛡".repeat(49)}äbcd`;
		for (const [fields, name] of [
			[{ title: "Titled", description: "Words" }, "Titled"],
			[{ description: " \n Untitled \nmore" }, "Untitled"],
			[
				{ description: `Lengthy${long}` },
				`Lengthy${[...long].slice(0, 92).join("")}…`,
			],
		] as const) {
			const { id, reference_id } = await add(fields);
			expect((await nameOf(id, reference_id)).trim()).toBe(
				`${reference_id} ${name}`,
			);
		}
		const bare = await add({});
		expect(await nameOf(bare.id, bare.reference_id)).toBe(bare.reference_id);
	});

	test("is the id and the description for an improvement", async () => {
		const { records } = await tools.use("addRecords", {
			kind: "continual_improvement",
			records: [{ description: "Automate it" }],
		});
		expect(records[0].name).toMatch(/^CI-\d+ Automate it$/);
		const overview = await tools.use("getOverview");
		expect(JSON.stringify(overview)).toContain(records[0].name);
	});

	test("is found by the words of its title", async () => {
		const { id } = await add({ title: "Zebra crossing" });
		const { records } = await tools.use("searchRecords", { query: "zebra" });
		expect(records.map((record: Json) => record.id)).toEqual([id]);
	});
});

describe("a reference id", () => {
	test("names the record to get, update and delete, in any case", async () => {
		const { id, reference_id } = await add({});
		const lower = reference_id.toLowerCase();
		const got = await tools.use("getNonconformity", { id: lower });
		expect(got.nonconformity.id).toBe(id);
		const { nonconformity } = await tools.use("updateNonconformity", {
			id: lower,
			title: "Changed",
			organization_id: tools.organizationId,
		});
		expect(nonconformity).toMatchObject({ id, title: "Changed" });
		expect(
			await tools.use("deleteNonconformity", { id: reference_id }),
		).toEqual({
			deleted_nonconformity_id: id,
		});
		const { status, body } = await tools.call("getNonconformity", {
			id: lower,
		});
		expect([status, body.message]).toEqual([
			404,
			`there is no nonconformity ${lower}`,
		]);
		const { continual_improvement: improvement } = await tools.use(
			"addContinualImprovement",
		);
		const { reference_id: ci } = improvement;
		expect(
			(await tools.use("getContinualImprovement", { id: ci.toLowerCase() }))
				.continual_improvement.id,
		).toBe(improvement.id);
	});

	test("that differs from another only in its case must be written exactly", async () => {
		const upper = await add({ reference_id: "ABC" });
		// Earlier versions allowed it, so databases may have such records.
		const mixed = await add({ reference_id: "DEF" });
		await tools.database.owner.query(
			"update nonconformities set reference_id = 'Abc' where id = $1",
			[mixed.id],
		);
		mixed.reference_id = "Abc";
		const changed = await tools.use("updateNonconformity", {
			id: "Abc",
			title: "Changed",
			reference_id: "Abc",
		});
		expect(changed.nonconformity.id).toBe(mixed.id);
		for (const { id, reference_id } of [upper, mixed]) {
			const got = await tools.use("getNonconformity", { id: reference_id });
			expect(got.nonconformity.id).toBe(id);
		}
		const { status, body } = await tools.call("getNonconformity", {
			id: "abc",
		});
		expect(status).toBe(400);
		expect(body.message).toContain(
			"id: is the reference id of several nonconformities",
		);
	});

	test("is unique whatever its case and the blanks around it", async () => {
		const { id } = await add({ reference_id: "  Uni-1 " });
		const got = await tools.use("getNonconformity", { id: " uni-1" });
		expect(got.nonconformity).toMatchObject({ id, reference_id: "Uni-1" });
		const other = await add({});
		for (const reference_id of ["Uni-1", "UNI-1", "uni-1 "]) {
			for (const [tool, input] of [
				["addNonconformity", { reference_id }],
				["updateNonconformity", { id: other.id, reference_id }],
				["addRecords", { kind: "nonconformity", records: [{ reference_id }] }],
			] as const) {
				const { status, body } = await tools.call(tool, input);
				expect([tool, status]).toEqual([tool, 400]);
				expect(body.message).toContain(
					"reference_id: is already used by another nonconformity",
				);
			}
		}
		const rows = [{ reference_id: "Uni-2" }, { reference_id: "uni-2" }];
		const { body } = await tools.call("addRecords", {
			kind: "nonconformity",
			records: rows,
		});
		expect(body.message).toContain(
			"records[1].reference_id: is already used by records[0]",
		);
		const renamed = await tools.use("updateNonconformity", {
			id,
			reference_id: "UNI-1",
		});
		expect(renamed.nonconformity.reference_id).toBe("UNI-1");
	});

	test("that the service makes is none that a record has in another case", async () => {
		const { reference_id } = await add({});
		const number = Number(reference_id.slice(3));
		const padded = (n: number) => String(n).padStart(3, "0");
		await add({ reference_id: `nc-${padded(number + 1)}` });
		const next = await add({});
		expect(next.reference_id).toBe(`NC-${padded(number + 2)}`);
	});

	test("of any form names a record for its history and uses, and an unknown one is not found", async () => {
		for (const reference_id of ["2026/07", "A-B-1", "Major finding"]) {
			await add({ reference_id });
			for (const tool of ["getRecordHistory", "getRecordUses"]) {
				await tools.use(tool, { id: reference_id.toUpperCase() });
				const { status, body } = await tools.call(tool, {
					id: `${reference_id}?`,
				});
				expect([status, body.message]).toEqual([
					404,
					`there is no record ${reference_id}?`,
				]);
			}
		}
	});

	test("needs organization_id if the caller has several organizations, and reaches no other", async () => {
		const { id } = await add({ reference_id: "OWN-1" });
		const both = await tools.makeUser({
			[tools.organizationId]: "viewer",
			[tools.otherOrganizationId]: "admin",
		});
		const call = (input: object, token = both.token) =>
			tools.call("getNonconformity", { id: "own-1", ...input }, token);
		const unnamed = await call({});
		expect(unnamed.status).toBe(400);
		expect(unnamed.body.message).toMatch(
			/^organization_id: is required with a reference id/,
		);
		const named = await call({ organization_id: tools.organizationId });
		expect(named.body.nonconformity.id).toBe(id);
		expect(
			(await call({ organization_id: tools.otherOrganizationId })).status,
		).toBe(404);
		expect((await call({}, tools.stranger.token)).status).toBe(404);
		const foreign = { organization_id: tools.organizationId };
		expect((await call(foreign, tools.stranger.token)).status).toBe(403);
		const update = {
			id: "OWN-1",
			title: "x",
			organization_id: tools.organizationId,
		};
		expect(
			(await tools.call("updateNonconformity", update, both.token)).status,
		).toBe(403);
		expect(
			(
				await tools.call(
					"deleteNonconformity",
					{ id: "OWN-1" },
					tools.member.token,
				)
			).status,
		).toBe(403);
	});

	test("is not mistaken for the id of another kind", async () => {
		const { measure } = await tools.use("addMeasure", {
			name: "x",
			category: "y",
		});
		const { status, body } = await tools.call("getNonconformity", {
			id: measure.id,
		});
		expect(status).toBe(400);
		expect(body.message).toContain("this is the id of a measure");
	});
});

describe("an organization beside the id of a record", () => {
	test.each([
		["getNonconformity", {}],
		["getRecordHistory", {}],
		["getRecordUses", {}],
		["updateNonconformity", { title: "Changed" }],
		["deleteNonconformity", {}],
	])("must be that of the record: %s", async (tool, fields) => {
		const { id, organization_id } = await add({ title: "Kept" });
		const both = await tools.makeUser({
			[tools.organizationId]: "admin",
			[tools.otherOrganizationId]: "viewer",
		});
		const call = (organization_id: string) =>
			tools.call(tool, { id, organization_id, ...fields }, both.token);
		expect((await call(tools.otherOrganizationId)).status).toBe(404);
		expect((await call("x")).status).toBe(403);
		expect((await call(makeIdWithoutTenant("organization"))).status).toBe(403);
		const { nonconformity } = await tools.use("getNonconformity", { id });
		expect(nonconformity.title).toBe("Kept");
		expect((await call(organization_id)).status).toBe(200);
	});
});
