import {
	integerFrom,
	optionalText,
	owner,
	references,
	requiredChoice,
	requiredName,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byInteger, byText } from "../records/list-pages.ts";

export const asset = recordKind({
	kind: "asset",
	table: "assets",
	tool: { one: "Asset", many: "Assets" },
	key: { one: "asset", many: "assets" },
	noun: "asset",
	nouns: "assets",
	about:
		"An asset is something of value that data is kept or worked on with; reporting laptops and servers are devices.",
	title: "name",
	fields: {
		name: requiredName("What it is"),
		amount: integerFrom(0, 1, "How many there are"),
		owner_id: owner(),
		asset_type: requiredChoice(
			["PHYSICAL", "VIRTUAL"],
			"Whether it can be touched",
		),
		data_types_stored: optionalText("Kinds of data on it"),
		vendor_ids: references(
			"vendor",
			{ table: "asset_vendors", column: "vendor_id", of: "vendors" },
			"Vendors it comes from or is run by; replaces the whole list",
		),
	},
	orders: { name: byText("name"), amount: byInteger("amount") },
	filters: ["asset_type", "owner_id"],
});
