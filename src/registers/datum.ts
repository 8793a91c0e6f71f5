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
	noun: "data type",
	nouns: "data types",
	help: "A data type is a kind of data that the organization holds, such as payroll records. It says how confidential the data is.",
	title: "name",
	beside: ["data_classification", "owner_id"],
	isLinkable: true,
	fields: {
		name: requiredName("Name of the data"),
		data_classification: requiredChoice(
			["PUBLIC", "INTERNAL", "CONFIDENTIAL", "SECRET"],
			"Confidentiality",
		),
		owner_id: owner(),
		vendor_ids: references(
			"vendor",
			{ table: "datum_vendors", column: "vendor_id", of: "vendors" },
			"Vendors that process it",
		),
	},
	brief: ["name", "data_classification", "vendor_ids", "owner_id"],
	orders: { name: byText("name") },
	filters: ["data_classification", "owner_id"],
});
