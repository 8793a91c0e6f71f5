import { archivedField } from "../records/archived-field.ts";
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
	help: "An asset is something of value that holds or processes data. Laptops and servers that report are devices.",
	title: "name",
	beside: ["asset_type", "owner_id"],
	isLinkable: true,
	fields: {
		name: requiredName("Name of the asset"),
		amount: integerFrom(0, 1, "Number of such assets"),
		owner_id: owner(),
		asset_type: requiredChoice(["PHYSICAL", "VIRTUAL"], "Physical or virtual"),
		data_types_stored: optionalText("Data that it holds"),
		vendor_ids: references(
			"vendor",
			{ table: "asset_vendors", column: "vendor_id", of: "vendors" },
			"Vendors that supply or operate it",
		),
		archived_at: archivedField(),
	},
	brief: ["name", "asset_type", "amount", "owner_id"],
	orders: { name: byText("name"), amount: byInteger("amount") },
	filters: ["asset_type", "owner_id"],
});
