import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppError } from "../../src/errors.ts";
import type { Context } from "../../src/operation.ts";
import { findOperation } from "../../src/operations.ts";
import type { AnyRecordKind } from "../../src/records/kind.ts";
import { COUNTED } from "../../src/records/list-pages.ts";
import { listingOf } from "../../src/records/record-filters.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import {
	nodesOf,
	type Planned,
	planning,
	pretendRows,
} from "../support/plans.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";

const ROWS = 1_000_000;
const SIZE = 2;

let calls: Calls;
let organization_id: string;
/** Values that some filter may take, besides those of the register's own records. */
let others: unknown[];
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
	const references = await makeReferences(calls, organization_id);
	for (const sample of samples) {
		for (const which of ["required", "all"] as const) {
			for (let more = 0; more < SIZE; more++) {
				await calls.call(`add${sample.one}`, {
					organization_id,
					...inputOf(sample, references, which),
				});
			}
		}
	}
	for (const { table } of recordKinds) {
		await pretendRows(calls.database.owner, table, ROWS);
	}
	others = [
		...[null, true, false, 10, "measure", "Ada"],
		...["2026-01-15", "2026-01-15T08:30:00Z"],
		...Object.values(references).flat(),
	];
});
afterAll(() => calls.close());

/** Lists records of the organization, and returns the page and the plans of its statements. */
async function list(kind: AnyRecordKind, input: object) {
	const operation = findOperation(`list${kind.tool.many}`);
	const connection = await calls.database.pool.connect();
	const { client, planned } = planning(connection);
	try {
		await connection.query("begin");
		await setOrganization(connection);
		const context = {
			client,
			membership: { organizationId: organization_id, role: "admin" },
		} as Context;
		const page = await operation?.run(context, {
			organization_id,
			size: SIZE,
			...input,
		});
		return { page: page as Record<string, unknown>, planned };
	} catch (error) {
		// The statements were planned before a filter was refused whose value no record has.
		if (error instanceof AppError && error.code === "bad_request")
			return { page: {}, planned };
		throw error;
	} finally {
		await connection.query("rollback");
		connection.release();
	}
}

const setOrganization = (client: PoolClient) =>
	client.query("select set_config('assay.organization_id', $1, true)", [
		organization_id,
	]);

/** A count stops at its limit, so it may read records without an index if most of them match. */
const isCount = (text: string) => /\bcounted\s*$/.test(text);

/** A misspelled name is refused with the existing ones, which a statement counts as countRecords does. */
const isRefusal = (text: string) => /\bas is_it\b/.test(text);

/**
 * Expects that no statement reads the whole register, and that none sorts more than is counted.
 */
function expectIndexes(planned: Planned[], table: string, label: string) {
	const reading = planned.filter(
		({ text }) => new RegExp(`\\b${table} t\\b`).test(text) && !isRefusal(text),
	);
	expect(reading.length, label).toBeGreaterThan(0);
	for (const { text, plan } of reading) {
		const dear = nodesOf(plan).filter((node) => {
			const { "Node Type": type, "Plan Rows": rows } = node;
			if (type === "Seq Scan")
				return (
					node["Relation Name"] === table && !(isCount(text) && rows > COUNTED)
				);
			return type === "Sort" && (node.Plans?.[0]?.["Plan Rows"] ?? 0) > COUNTED;
		});
		expect(dear, `${label}: ${text}`).toEqual([]);
	}
}

describe.each(
	recordKinds.map((kind) => [kind.nouns, kind] as const),
)("in a register of a million %s", (_, kind: AnyRecordKind) => {
	const { orders, filters } = listingOf(kind);

	test("each order reads its pages from an index", async () => {
		for (const field of Object.keys(orders)) {
			for (const direction of ["ASC", "DESC"]) {
				const order_by = { field, direction };
				const label = JSON.stringify(order_by);
				const first = await list(kind, { order_by });
				expectIndexes(first.planned, kind.table, label);
				const cursor = first.page.next_cursor;
				expect(cursor, label).toBeTypeOf("string");
				const next = await list(kind, { order_by, cursor });
				expectIndexes(next.planned, kind.table, `${label} after a cursor`);
			}
		}
	});

	test("each filter reads its first page and its number from an index", async () => {
		const { page } = await list(kind, { size: 100, detail: "full" });
		const records = page[kind.key.many] as Record<string, unknown>[];
		for (const [name, filter] of Object.entries(filters)) {
			// It takes any field, also long texts, which have no index.
			if (name === "empty") continue;
			const common = records.map((record) => record[name]);
			const values = [...new Set([...common, ...others])].filter((value) =>
				value === null
					? filter.whenNull !== undefined
					: filter.schema.safeParse(value).success,
			);
			expect(values.length, `values of the filter ${name}`).toBeGreaterThan(0);
			for (const value of values) {
				const input = { filter: { [name]: value } };
				const { planned } = await list(kind, input);
				const read = common.includes(value)
					? planned.filter(({ text }) => !isCount(text))
					: planned;
				expectIndexes(read, kind.table, JSON.stringify(input));
			}
		}
	});
});
