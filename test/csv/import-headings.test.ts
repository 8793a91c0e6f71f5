import { expect, test } from "vitest";
import {
	fieldsOfHeadings,
	normalize,
	synonymsOf,
} from "../../src/csv/import-headings.ts";
import { givenFields } from "../../src/records/input.ts";
import { labelOf } from "../../src/records/labels.ts";
import { recordKinds } from "../../src/registers/all.ts";

const readAs = (name: string, headings: string[]) => {
	const kind = recordKinds.find((one) => one.kind === name);
	if (!kind) throw new Error(`there is no register ${name}`);
	return fieldsOfHeadings(kind, headings, {}).fields;
};

test("the headings of a usual list of suppliers are read as fields", () => {
	const fields = {
		Supplier: "name",
		Type: "category",
		Criticality: "risk_rating",
		Owner: "owner_id",
		URL: "website_url",
		"Contract start": "contract_start_date",
		"Contract end": "contract_end_date",
		"Last review": "last_review_date",
		"Next review": "next_review_date",
	};
	expect(readAs("vendor", Object.keys(fields))).toEqual(Object.values(fields));
});

test.each([
	["risk", ["Risk", "Area", "Risk owner", "Next review"]],
	["asset", ["Asset", "Category", "Asset owner", "Supplier"]],
	["measure", ["Measure", "Type", "Responsible"]],
	["document", ["Document", "Type", "Next review"]],
	["people", ["Name", "E-mail", "Start date", "End date", "Type"]],
	["evidence", ["Name", "Expires"]],
	["audit", ["Audit", "Type", "Start", "End", "Expiry date"]],
	["obligation", ["Obligation", "Category", "Last review", "Next review"]],
])("in a file of the register %s, every usual heading is a field of its own", (kind, headings) => {
	const fields = readAs(kind, headings);
	expect(fields).not.toContain(undefined);
	expect(new Set(fields).size).toBe(headings.length);
});

test("of two columns for one field, the second stays unknown", () => {
	expect(readAs("vendor", ["Name", "Supplier", "Risk", "Criticality"])).toEqual(
		["name", undefined, "risk_rating", undefined],
	);
});

test.each(
	recordKinds.map((kind) => [kind.kind, kind] as const),
)("no word means two fields of the register %s, and none is another field's own name", (_, kind) => {
	const owners = new Map<string, string>();
	for (const field of Object.keys(givenFields(kind))) {
		const words = synonymsOf(kind, field);
		for (const word of new Set([field, normalize(labelOf(field)), ...words])) {
			expect(owners.get(word) ?? field, word).toBe(field);
			owners.set(word, field);
		}
	}
});
