import type { AnyRecordKind } from "../src/records/kind.ts";
import { listingOf } from "../src/records/record-filters.ts";
import { choicesOf, type FilledOrganization } from "./lists-seed.ts";

/** Largest p99 of an answer in milliseconds: of a page of a list, and of a count of a register. */
export const MAX_MS = { list: 20, count: 1_000 };

const DAY_MS = 86_400_000;

export interface Question {
	name: string;
	type: keyof typeof MAX_MS;
	tool: string;
	input: Record<string, unknown>;
}

/** Returns filters, each with its name in words: every field with a value, and pairs of them. */
function filtersOf(
	kind: AnyRecordKind,
	{ people: [person = ""] }: FilledOrganization,
): [string, Record<string, unknown>][] {
	const simple = kind.filters.flatMap((name): Record<string, unknown>[] => {
		const field = kind.fields[name];
		if (!field || field.join) return [];
		if (field.type === "choice") {
			return choicesOf(field).map((value) => ({ [name]: value }));
		}
		if (field.type === "integer") return [{ [name]: 3 }];
		if (field.reference === "people") {
			return [{ [name]: person }, { [name]: null }];
		}
		if (field.type === "name") return [{ [name]: "Category 7" }];
		return [];
	});
	const today = new Date().toISOString().slice(0, 10);
	const others = Object.keys(listingOf(kind).filters).flatMap(
		(name): Record<string, unknown>[] => {
			if (/^min_.*score$/.test(name)) return [{ [name]: 20 }, { [name]: 2 }];
			if (/^max_.*score$/.test(name)) return [{ [name]: 2 }, { [name]: 20 }];
			if (name === "is_open") return [{ [name]: true }, { [name]: false }];
			if (/_(from|until)$/.test(name)) return [{ [name]: today }];
			return [];
		},
	);
	const pairs = simple
		.slice(0, 3)
		.flatMap((one, at) =>
			simple.slice(at + 1).map((other) => ({ ...other, ...one })),
		);
	return [...simple, ...others, ...pairs].map((filter) => [
		Object.entries(filter)
			.map(([name, value]) => `${name} ${value === person ? "person" : value}`)
			.join(", "),
		filter,
	]);
}

const SEARCHES = [
	"laptop theft",
	"key 123456",
	"takeover",
	"apto",
	"nothing so",
];

/** Words with a typing mistake, for which searchRecords also looks for similar names. */
const MISTYPED = ["laptpo theft", "takeovre", "spuplier"];

export function questionsOf(
	kind: AnyRecordKind,
	organization: FilledOrganization,
): Question[] {
	const tool = `list${kind.tool.many}`;
	const organization_id = organization.id;
	const list = (name: string, input: object): Question => ({
		name: `${tool} of ${organization.records}: ${name}`,
		type: "list",
		tool,
		input: { organization_id, ...input },
	});
	const orders = Object.keys(listingOf(kind).orders).flatMap((field) =>
		["ASC", "DESC"].map((direction) => ({ field, direction })),
	);
	const filters = filtersOf(kind, organization);
	const ordered = orders.flatMap((order_by) => {
		const by = `by ${order_by.field} ${order_by.direction}`;
		return [
			list(by, { order_by }),
			...filters.map(([name, filter]) =>
				list(`${name}, ${by}`, { order_by, filter }),
			),
			...SEARCHES.map((query) =>
				list(`"${query}", ${by}`, { order_by, filter: { query } }),
			),
		];
	});
	const searches = [...SEARCHES, ...MISTYPED].map((query) => ({
		...list("", {}),
		name: `searchRecords of ${organization.records}: "${query}"`,
		tool: "searchRecords",
		input: { organization_id, query },
	}));
	return [...ordered, ...searches];
}

/** Returns the questions whose answers count a whole register of the organization. */
export function countsOf(
	kinds: readonly AnyRecordKind[],
	organization: FilledOrganization,
): Question[] {
	const { id: organization_id, frameworks } = organization;
	const read = (tool: string, input: object = { organization_id }) => ({
		name: `${tool}, ${organization.records} records`,
		type: "count" as const,
		tool,
		input: { ...input },
	});
	const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
	const as_of = daysAgo(20).toISOString();
	const ofPast = (question: Question): Question => ({
		...question,
		name: `${question.name}, 20 days ago`,
		input: { ...question.input, as_of },
	});
	return [
		...kinds.flatMap((kind) => groupsOf(kind, organization)),
		read("getOverview"),
		read("getRiskMatrix"),
		read("getCoverages"),
		read("getFrameworkCoverage", { id: frameworks[0] }),
		read("getTrends"),
		read("getBoardSummary", {
			organization_id,
			compared_with: daysAgo(20).toISOString().slice(0, 10),
		}),
		read("getNextSteps"),
		...kinds.flatMap((kind) => groupsOf(kind, organization).map(ofPast)),
		...["getRiskMatrix", "getCoverages"].map((tool) => ofPast(read(tool))),
	];
}

function groupsOf(
	kind: AnyRecordKind,
	{ id, records }: FilledOrganization,
): Question[] {
	return Object.entries(kind.fields)
		.filter(
			([name, { type, reference, join }]) =>
				type === "choice" ||
				(reference && !join) ||
				(type === "name" && kind.filters.includes(name)),
		)
		.map(
			([group_by]): Question => ({
				name: `countRecords of ${records} ${kind.nouns} by ${group_by}`,
				type: "count",
				tool: "countRecords",
				input: { organization_id: id, kind: kind.kind, group_by },
			}),
		);
}
