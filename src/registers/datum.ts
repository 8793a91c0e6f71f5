import {
	owner,
	references,
	requiredChoice,
	requiredName,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byText } from "../records/list-pages.ts";

export const datum = recordKind({
	kind: "datum",
	table: "data",
	tool: { one: "Datum", many: "Data" },
	key: { one: "datum", many: "data" },
	noun: "kind of data",
	nouns: "kinds of data",
	about:
		"A datum is a kind of data that the organization holds, such as payroll records, with how confidential it is.",
	title: "name",
	fields: {
		name: requiredName("What data it is"),
		data_classification: requiredChoice(
			["PUBLIC", "INTERNAL", "CONFIDENTIAL", "SECRET"],
			"How confidential it is",
		),
		owner_id: owner(),
		vendor_ids: references(
			"vendor",
			{ table: "datum_vendors", column: "vendor_id", of: "vendors" },
			"Vendors that work with it; replaces the whole list",
		),
	},
	orders: { name: byText("name") },
	filters: ["data_classification", "owner_id"],
});
