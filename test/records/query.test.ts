import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
	for (const [name, description] of Object.entries(VENDORS)) {
		await calls.call("addVendor", { organization_id, name, description });
	}
});
afterAll(() => calls.close());

const VENDORS: Record<string, string | null> = {
	"Zürich Versicherung": "Große Straße, CAFÉ",
	"100% sure": null,
	"100 sure": null,
	snake_case: null,
	snakeXcase: null,
	"back\\slash": null,
	backslash: null,
	"quote ' \" quote": null,
	[`long ${"x".repeat(900)}`]: null,
};

async function found(query: string): Promise<string[]> {
	const { vendors } = await calls.call("listVendors", {
		organization_id,
		filter: { query },
		order_by: { field: "created_at", direction: "ASC" },
	});
	return vendors.map((vendor: { name: string }) => vendor.name.slice(0, 20));
}

test.for([
	["zurich", ["Zürich Versicherung"]],
	["ZÜRICH", ["Zürich Versicherung"]],
	["cafe versicherung", ["Zürich Versicherung"]],
	["  große\t strasse  ", ["Zürich Versicherung"]],
	["sicher", ["Zürich Versicherung"]],
	["zurich 100", []],
	["100%", ["100% sure"]],
	["%", ["100% sure"]],
	["100 sure", ["100% sure", "100 sure"]],
	["e_c", ["snake_case"]],
	["_", ["snake_case"]],
	["\\", ["back\\slash"]],
	["k\\s", ["back\\slash"]],
	["\\%", []],
	["'", ["quote ' \" quote"]],
	["' or true --", []],
	["x".repeat(200), ["long xxxxxxxxxxxxxxx"]],
	["zurich\u0000", []],
	["\ud800", []],
	["nothing like it", []],
] as const)("the query %j finds %j", async ([query, names]) => {
	expect(await found(query)).toEqual(names);
});

test("a query without words returns all records", async () => {
	for (const query of ["", "   "]) {
		expect(await found(query)).toHaveLength(Object.keys(VENDORS).length);
	}
});

describe.for(samples)("$kind", (sample) => {
	test("a query finds a record by each of its texts, also after a change, and only in its own organization", async () => {
		const two = await Promise.all(
			["Ours", "Theirs"].map((name) =>
				createOrganization(calls.database.pool, name),
			),
		);
		for (const field of sample.searched) {
			const [ours] = await Promise.all(
				two.map(async (organization_id) => {
					const by = calls.principal("admin", organization_id);
					const references = await makeReferences(calls, organization_id);
					const word = /email/.test(field)
						? "needle@example.com"
						: /url/.test(field)
							? "https://needle.example.com"
							: "A Needlé";
					const input = {
						...inputOf(sample, references, "required"),
						[field]: word,
					};
					const answer = await calls.call(
						`add${sample.one}`,
						{ organization_id, ...input },
						by,
					);
					return { by, organization_id, id: answer[sample.key].id };
				}),
			);
			if (!ours) throw new Error("two were made");
			const ids = async (query: string) => {
				const answer = await calls.call(
					`list${sample.many}`,
					{ organization_id: ours.organization_id, filter: { query } },
					ours.by,
				);
				return answer[sample.keys].map(({ id }: { id: string }) => id);
			};
			expect(await ids("NEEDLE"), field).toEqual([ours.id]);
			const changed = /email/.test(field)
				? "hay@example.com"
				: /url/.test(field)
					? "https://haystack.example.com"
					: "haystack";
			await calls.call(
				`update${sample.one}`,
				{ id: ours.id, [field]: changed },
				ours.by,
			);
			expect(await ids("needle"), field).toEqual([]);
			expect(await ids("hay"), field).toContain(ours.id);
		}
	});
});
