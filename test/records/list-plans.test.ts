import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sealAll } from "../../src/audit/sealer.ts";
import type { IdKind } from "../../src/id.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import type { AnyRecordKind } from "../../src/records/kind.ts";
import { listingOf } from "../../src/records/record-filters.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { type GrownLists, growLists } from "../support/grown-lists.ts";
import {
	isCount,
	type Planned,
	type PlannedCalls,
	planCalls,
	withoutIndex,
} from "../support/plans.ts";
import { samples } from "../support/record-samples.ts";
import { addSamples } from "../support/record-values.ts";

const SIZE = 2;

let calls: Calls;
let plans: PlannedCalls;
let grown: GrownLists;
let organization_id: string;
/** Values that some filter may take, besides those of the register's own records. */
let others: unknown[];
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
	const references = await addSamples(calls, samples, SIZE);
	grown = await growLists(calls);
	await calls.call("takeSnapshot", {
		organization_id,
		name: "All",
		type: "ALL",
	});
	await sealAll(calls.database.pool);
	plans = await planCalls(calls);
	others = [
		...[null, true, false, 10, "measure", "Ada"],
		...["2026-01-15", "2026-01-15T08:30:00Z"],
		...Object.values(references).flat(),
	];
});
afterAll(async () => {
	await plans?.close();
	await calls?.close();
});

interface JsonSchema {
	enum?: unknown[];
	anyOf?: JsonSchema[];
	properties?: Record<string, JsonSchema>;
	required?: string[];
}

/** Returns the values that an enum permits, also inside of a union. */
const choicesOf = (schema: JsonSchema | undefined): unknown[] => [
	...(schema?.enum ?? []),
	...(schema?.anyOf ?? []).flatMap(choicesOf),
];

const FILTERS_WITHOUT_INDEX: Record<string, string> = {
	empty: "it takes any field, also long texts",
	without_linked: "PostgreSQL may read all links to find records without one",
};

describe.each(
	recordKinds.map((kind) => [kind.nouns, kind] as const),
)("in a register of a million %s", (_, kind: AnyRecordKind) => {
	const { orders, filters } = listingOf(kind);

	const list = (input: object) =>
		plans.read(`list${kind.tool.many}`, {
			organization_id,
			size: SIZE,
			...input,
		});

	function expectIndexes(planned: Planned[], label: string) {
		const isOfTable = new RegExp(`\\b${kind.table} t\\b`);
		const reading = planned.filter(({ text }) => isOfTable.test(text));
		expect(reading.length, label).toBeGreaterThan(0);
		expect(withoutIndex(planned), label).toEqual([]);
	}

	const indexed = Object.keys(filters).filter(
		(name) => !(name in FILTERS_WITHOUT_INDEX),
	);

	/** Returns the values that a filter accepts, those of records first, and a choice of no record. */
	const valuesOf = (name: string, common: unknown[]) => {
		const filter = filters[name];
		if (!filter) return [];
		const { schema, whenNull } = filter;
		const rare = choicesOf(
			z.toJSONSchema(schema, { io: "input" }) as JsonSchema,
		).find((choice) => !common.includes(choice));
		const values = new Set([...common, ...(rare ? [rare] : []), ...others]);
		return [...values].filter((value) =>
			value === null ? whenNull !== undefined : schema.safeParse(value).success,
		);
	};

	test("each order reads its pages from an index", async () => {
		for (const field of Object.keys(orders)) {
			for (const direction of ["ASC", "DESC"]) {
				const order_by = { field, direction };
				const label = JSON.stringify(order_by);
				const first = await list({ order_by });
				expectIndexes(first.planned, label);
				const cursor = first.answer.next_cursor;
				expect(cursor, label).toBeTypeOf("string");
				const next = await list({ order_by, cursor });
				expectIndexes(next.planned, `${label} after a cursor`);
			}
		}
	});

	test("each filter, and each with the next one, reads its first page and its number from an index", async () => {
		const { answer } = await list({ size: 100, detail: "full" });
		const records = answer[kind.key.many] as Record<string, unknown>[];
		const chosen: [string, unknown][] = [];
		for (const name of indexed) {
			const common = records.map((record) => record[name]);
			const values = valuesOf(name, common);
			expect(values.length, `values of the filter ${name}`).toBeGreaterThan(0);
			for (const value of values) {
				const input = { filter: { [name]: value } };
				const { planned } = await list(input);
				const read = common.includes(value)
					? planned.filter((statement) => !isCount(statement))
					: planned;
				expectIndexes(read, JSON.stringify(input));
			}
			// An undecided risk has one treatment, so the pair with another one would match nothing.
			if (name !== "is_undecided")
				chosen.push([name, values[chosen.length % values.length]]);
		}
		const fields = Object.keys(orders);
		for (const [at, one] of chosen.entries()) {
			const pair = [one, chosen[(at + 1) % chosen.length] ?? one];
			const field = fields[at % fields.length];
			const input = { filter: Object.fromEntries(pair), order_by: { field } };
			const { planned } = await list(input);
			expectIndexes(planned, JSON.stringify(input));
		}
	});

	test("a search finds its words in an index, alone and with a filter", async () => {
		const [name] = indexed;
		const filter = name && { [name]: valuesOf(name, []).at(-1) };
		// A word of each record, one of no record, one of a person's name, and both.
		for (const query of ["zürich", "zebra", "Ada", "Ada zebra"]) {
			for (const given of [{ query }, { query, ...(filter || {}) }]) {
				const { planned } = await list({ filter: given });
				expectIndexes(planned, JSON.stringify(given));
			}
		}
	});
});

const registers = new Set<string>(
	recordKinds.map(({ tool }) => `list${tool.many}`),
);

/** Operations that read lists without being one, beside what they count. */
const OTHER_READERS = [
	...["searchRecords", "getOverview", "getDevice", "getDeviceException"],
	...["getRecordUses", "getRecordHistory"],
];

/** Lists that need the whole of something, or read no table. */
const LEFT_OUT: Record<string, string> = {
	listPostureSummary: "counts a fleet",
	listSnapshotDifferences: "compares whole registers",
	getStatementOfApplicability: "reads all controls of a framework",
	listReportSources: "reads no table",
};

/** The kind of record that an operation with the field `id` reads. Others read a risk. */
const READ: Record<string, IdKind> = {
	getRecordUses: "people",
	getDevice: "device",
	getDeviceException: "device_exception",
	listNonconformityDevices: "nonconformity",
	listNotificationDeliveries: "notification_channel",
	listWebhookDeliveries: "webhook",
};

/** Reads without an index. Each pattern is about a call, its input, and what it reads. */
const WITHOUT_INDEX: {
	call: RegExp;
	why: string;
	/** True if other versions of PostgreSQL use an index. */
	isRare?: boolean;
}[] = [
	{
		call: /^getOverview .*count\(\*\)/,
		why: "its figures count whole registers",
	},
	{
		call: /^listSnapshotRecords .*"query"/,
		why: "a snapshot has at most 30,000 records",
	},
	{
		call: /^listDevices .*"last_seen_at".* sorts/,
		why: "each heartbeat would have to update an index of it",
	},
	{
		call: /^listDevices .*"failing_since".* sorts/,
		why: "it is of another table, and devices that fail nothing come last",
	},
	{
		call: /^listDevices .*"(passing|unknown)_check"/,
		why: "most devices match, and the rows of a page are soon found",
		isRare: true,
	},
	{
		call: /^listPostureSpans .*"(PASS|NOT_APPLICABLE)"/,
		why: "most spans have these statuses, and each report would have to update their index",
	},
	{
		call: /^listDeviceExceptions .*"(query|check)"/,
		why: "people decide about each exception, so there are some thousand",
	},
	{
		call: /^listAuditLog .*"query"/,
		why: "each change would have to update an index of texts",
	},
];

/** Fields of a list that do not say which rows match. */
const OF_PAGES = ["size", "cursor", "detail", "order_by", "filter"];

/** Most values that are tried of a filter without choices. */
const MAX_VALUES = 2;

/** Returns the id of a row that `growLists` made, or of a record of a register. */
async function idOf(kind: string): Promise<string> {
	const register = recordKinds.find((one) => one.kind === kind);
	const table = register?.table ?? (kind === "snapshot" ? "snapshots" : "");
	if (!table) return grown.idOf(kind as IdKind);
	const { rows } = await calls.database.owner.query<{ id: string }>(
		`select id from ${table} order by id limit 1`,
	);
	return rows[0]?.id ?? "";
}

/** Returns a value for a required field. */
async function valueFor(tool: string, name: string): Promise<unknown> {
	if (name === "check_key") return "DISK_ENCRYPTION";
	if (name === "query") return "zebra review policy";
	if (name === "list") return "risk";
	const kind = name === "id" ? READ[tool] : name.replace(/_id$/, "");
	return idOf(kind === "record" || !kind ? "risk" : kind);
}

/**
 * Returns inputs of an operation: the smallest one, one with each order, and some with each filter
 * and each field that may be left out.
 */
async function inputsOf(operation: AnyOperation): Promise<object[]> {
	const schema = z.toJSONSchema(operation.input, { io: "input" }) as JsonSchema;
	const { properties = {}, required = [] } = schema;
	const accepts = (input: object) => operation.input.safeParse(input).success;
	const base: Record<string, unknown> = {};
	if ("organization_id" in properties) base.organization_id = organization_id;
	for (const name of required) {
		base[name] ??= await valueFor(operation.name, name);
	}
	if ("size" in properties) base.size = SIZE;
	expect(accepts(base), `${operation.name} ${JSON.stringify(base)}`).toBe(true);

	const order = properties.order_by?.properties;
	const ordered = choicesOf(order?.field).flatMap((field) =>
		choicesOf(order?.direction).map((direction) => ({
			...base,
			order_by: { field, direction },
		})),
	);
	const filters = properties.filter?.properties ?? {};
	const further = [
		...Object.keys(properties)
			.filter((name) => !(name in base) && !OF_PAGES.includes(name))
			.map((name) => ({
				name,
				choices: choicesOf(properties[name]),
				inputWith: (value: unknown) => ({ ...base, [name]: value }),
			})),
		...Object.keys(filters).map((name) => ({
			name: `filter.${name}`,
			choices: choicesOf(filters[name]),
			inputWith: (value: unknown) => ({ ...base, filter: { [name]: value } }),
		})),
	];
	const filtered = further.flatMap(({ name, choices, inputWith }) => {
		const ids = ["device", "device_group", "enrollment_key"] as const;
		const values = [
			...[...choices, ...others, ...ids.map(grown.idOf)],
			...["1.4.0", ["risk"]],
		];
		const accepted = values.map(inputWith).filter(accepts);
		expect(accepted.length, `${operation.name} ${name}`).toBeGreaterThan(0);
		return accepted.slice(0, Math.max(MAX_VALUES, choices.length));
	});
	return [base, ...ordered, ...filtered];
}

describe("every other list of millions of rows", () => {
	const needed = new Set<RegExp>();

	test.each(
		operations
			.filter(
				({ name, isReadOnly, input }) =>
					isReadOnly &&
					(/^list/.test(name) ||
						"cursor" in input.shape ||
						OTHER_READERS.includes(name)) &&
					!registers.has(name) &&
					!(name in LEFT_OUT),
			)
			.map((operation) => [operation.name, operation as AnyOperation] as const),
	)("%s reads from indexes", async (name, operation) => {
		const dear: string[] = [];
		for (const input of await inputsOf(operation)) {
			const first = await plans.read(name, input);
			const cursor = first.answer.next_cursor;
			const next = cursor
				? await plans.read(name, { ...input, cursor })
				: first;
			for (const what of withoutIndex([...first.planned, ...next.planned])) {
				const call = `${name} ${JSON.stringify(input)} ${what}`;
				const known = WITHOUT_INDEX.filter((one) => one.call.test(call));
				for (const one of known) needed.add(one.call);
				if (known.length === 0) dear.push(call);
			}
		}
		expect(dear).toEqual([]);
	});

	test("each exception is still needed", () => {
		const expected = WITHOUT_INDEX.filter(({ isRare }) => !isRare);
		expect(expected.filter(({ call }) => !needed.has(call))).toEqual([]);
	});
});
