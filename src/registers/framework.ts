import { optionalName, optionalText, requiredName } from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byText } from "../records/list-pages.ts";

export const framework = recordKind({
	kind: "framework",
	table: "frameworks",
	tool: { one: "Framework", many: "Frameworks" },
	key: { one: "framework", many: "frameworks" },
	noun: "framework",
	nouns: "frameworks",
	help: "A framework is a standard to comply with, such as ISO 27001. Its requirements are controls.",
	title: "name",
	beside: ["version"],
	fields: {
		name: requiredName("Name of the standard"),
		description: optionalText("Subject of the standard"),
		version: optionalName("Edition, such as 2022"),
	},
	brief: ["name", "version"],
	orders: { name: byText("name") },
	filters: [],
});
