import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal } from "../../src/principal.ts";
import { listingOf } from "../../src/records/record-filters.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";

// This file tests invalid arguments of lists of records, and the filters that only one kind has.

let calls: Calls;
beforeAll(async () => {
	calls = await shareCalls();
});
afterAll(() => calls.close());

/** JSON that is nested more deeply than a recursive parser can follow. */
const DEEP = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;

describe.for(samples)("$kind", (sample) => {
	const tool = `list${sample.many}`;
	let organization_id: string;
	let by: Principal;
	let id: string;
	const list = (input: object) =>
		calls.call(tool, { organization_id, ...input }, by);

	beforeAll(async () => {
		organization_id = await createOrganization(calls.database.pool, sample.one);
		by = calls.principal("admin", organization_id);
		const references = await makeReferences(calls, organization_id);
		for (let made = 0; made < 2; made++) {
			const input = inputOf(sample, references, "all");
			const answer = await calls.call(
				`add${sample.one}`,
				{ organization_id, ...input },
				by,
			);
			id = answer[sample.key].id;
		}
	});

	test("a cursor of another order or tool, or one made by hand, is rejected", async () => {
		const cursorOf = async (order_by: object) =>
			(await list({ order_by, size: 1 })).next_cursor;
		const byUpdate = await cursorOf({ field: "updated_at", direction: "ASC" });
		const write = (value: unknown) =>
			Buffer.from(JSON.stringify(value)).toString("base64url");

		const other = sample.kind === "risk" ? "listMeasures" : "listRisks";
		for (const [order_by, cursor] of [
			[undefined, byUpdate],
			[{ field: "updated_at", direction: "DESC" }, byUpdate],
			[{ field: "created_at", direction: "ASC" }, byUpdate],
			[undefined, "nonsense"],
			[undefined, ""],
			[undefined, "\u0000"],
			[undefined, write([`${other}.created_at.DESC`, "2026-01-01", id])],
			[undefined, write([`${tool}.created_at.DESC`, "no time", id])],
			[undefined, write([`${tool}.created_at.DESC`, "2026-01-01", "no id"])],
			[undefined, write([`${tool}.created_at.DESC`, "2026-01-01\u0000", id])],
			[undefined, write({})],
			...sample.orders.map((field) => [
				{ field, direction: "DESC" },
				write([`${tool}.${field}.DESC`, "\ud800", id]),
			]),
			[undefined, write([`${tool}.created_at.DESC`, { toString: 1 }, id])],
			[undefined, write(["x", { toString: 1 }, "y"])],
			[undefined, Buffer.from(`["x","y",${DEEP}]`).toString("base64url")],
		]) {
			const refused = await calls.refusal(
				tool,
				{ organization_id, cursor, ...(order_by && { order_by }) },
				by,
			);
			expect(refused, String(cursor).slice(0, 200)).toMatchObject({
				code: "bad_request",
				fields: ["cursor"],
			});
		}
	});

	test("a cursor of another filter or organization is rejected, and another size or detail is not", async () => {
		const { next_cursor: cursor } = await list({ size: 1 });
		const next = await list({ size: 2, detail: "brief", cursor });
		expect(next[sample.keys].length).toBeGreaterThan(0);
		const other = await createOrganization(calls.database.pool, "Other");
		const both = { ...by, memberships: [...by.memberships] };
		both.memberships.push(...calls.principal("admin", other).memberships);
		for (const input of [
			{ organization_id, filter: { query: "x" }, cursor },
			{ organization_id: other, cursor },
		]) {
			const refused = await calls.refusal(tool, input, both);
			expect(refused).toMatchObject({
				code: "bad_request",
				fields: ["cursor"],
				message: expect.stringContaining(
					"cursor: belongs to another filter or organization",
				),
			});
		}
	});

	test("wrong sizes, orders and filters are rejected, and the error names them", async () => {
		for (const [input, field] of [
			[{ size: 0 }, "size"],
			[{ size: 101 }, "size"],
			[{ size: 1.5 }, "size"],
			[{ order_by: { field: "id" } }, "order_by.field"],
			[
				{ order_by: { field: "created_at", direction: "UP" } },
				"order_by.direction",
			],
			[{ filter: { query: "x".repeat(201) } }, "filter.query"],
			[{ filter: { nonsense: 1 } }, "filter"],
		] as const) {
			const refused = await calls.refusal(
				tool,
				{ organization_id, ...input },
				by,
			);
			expect(refused, JSON.stringify(input)).toMatchObject({
				code: "bad_request",
				fields: [field],
			});
		}
	});
});

test("risks can be filtered by a range of scores, which includes both ends", async () => {
	const organization_id = await createOrganization(
		calls.database.pool,
		"Scores",
	);
	const by = calls.principal("admin", organization_id);
	for (const [inherent_likelihood, inherent_impact, residual_impact] of [
		[1, 1, 1],
		[2, 3, 2],
		[5, 5, 1],
	]) {
		await calls.call(
			"addRisk",
			{
				organization_id,
				name: "x",
				category: "x",
				treatment: "AVOIDED",
				inherent_likelihood,
				inherent_impact,
				residual_impact,
			},
			by,
		);
	}
	const scores = async (filter: object) => {
		const { risks } = await calls.call(
			"listRisks",
			{ organization_id, filter, order_by: { field: "inherent_risk_score" } },
			by,
		);
		return risks.map(
			(risk: { inherent_risk_score: number }) => risk.inherent_risk_score,
		);
	};
	expect(await scores({ min_inherent_risk_score: 6 })).toEqual([25, 6]);
	expect(await scores({ max_inherent_risk_score: 6 })).toEqual([6, 1]);
	expect(
		await scores({ min_inherent_risk_score: 2, max_inherent_risk_score: 24 }),
	).toEqual([6]);
	expect(await scores({ min_residual_risk_score: 5 })).toEqual([25]);
	expect(await scores({ max_residual_risk_score: 4 })).toEqual([6, 1]);
	const refused = await calls.refusal(
		"listRisks",
		{ organization_id, filter: { min_inherent_risk_score: 26 } },
		by,
	);
	expect(refused.fields).toEqual(["filter.min_inherent_risk_score"]);
});

test("a range of scores, dates or times whose end is before its beginning is rejected, also in counts", async () => {
	const organization_id = await createOrganization(
		calls.database.pool,
		"Ranges",
	);
	const by = calls.principal("admin", organization_id);
	const wrong = async (kind: string, filter: object) => {
		const list = samples.find((sample) => sample.kind === kind)?.many;
		const told = await calls.refusal(
			`list${list}`,
			{ organization_id, filter },
			by,
		);
		const counted = await calls.refusal(
			"countRecords",
			{ organization_id, kind, filter },
			by,
		);
		expect(counted).toEqual(told);
		return told.message;
	};
	for (const moment of ["inherent", "residual"]) {
		const [min, max] = ["min", "max"].map(
			(end) => `${end}_${moment}_risk_score`,
		) as [string, string];
		expect(await wrong("risk", { [min]: 20, [max]: 5 })).toBe(
			`filter.${max}: must not be less than ${min}`,
		);
		const one = { organization_id, filter: { [min]: 5, [max]: 5 } };
		expect((await calls.call("listRisks", one, by)).total).toBe(0);
	}
	let pairs = 0;
	for (const { kind } of samples) {
		const known = recordKinds.find((other) => other.kind === kind);
		if (!known) continue;
		for (const name of Object.keys(listingOf(known).filters)) {
			const until = name.replace(/_from$/, "_until");
			if (until === name || !(until in listingOf(known).filters)) continue;
			pairs++;
			const isTime = known.fields[name.slice(0, -5)]?.type === "datetime";
			const at = (day: string) => (isTime ? `${day}T00:00:00Z` : day);
			const filter = { [name]: at("2026-07-01"), [until]: at("2026-06-30") };
			expect(await wrong(kind, filter)).toBe(
				`filter.${until}: must not be before ${name}`,
			);
			const day = { [name]: at("2026-07-01"), [until]: at("2026-07-01") };
			const list = `list${samples.find((one) => one.kind === kind)?.many}`;
			await calls.call(list, { organization_id, filter: day }, by);
		}
	}
	expect(pairs).toBeGreaterThan(10);
	// Both names mean the same date.
	expect(
		await wrong("task", {
			due_from: "2026-07-01",
			deadline_until: "2026-06-30",
		}),
	).toBe("filter.deadline_until: must not be before due_from");
});

test("a filter leaves out people whose contract has ended", async () => {
	const organization_id = await createOrganization(
		calls.database.pool,
		"Contracts",
	);
	const by = calls.principal("admin", organization_id);
	const day = (offset: number) =>
		new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
	for (const [full_name, contract_end_date] of [
		["ended", day(-2)],
		["ending", day(2)],
		["endless", null],
	]) {
		await calls.call(
			"addPeople",
			{
				organization_id,
				full_name,
				contract_end_date,
				primary_email_address: "a@example.com",
				kind: "EMPLOYEE",
			},
			by,
		);
	}
	const namesOf = async (filter: object) => {
		const { people } = await calls.call(
			"listPeople",
			{ organization_id, filter, order_by: { field: "full_name" } },
			by,
		);
		return people.map((person: { full_name: string }) => person.full_name);
	};
	expect(await namesOf({ exclude_contract_ended: true })).toEqual([
		"ending",
		"endless",
	]);
	expect(await namesOf({ exclude_contract_ended: false })).toEqual([
		"ended",
		"ending",
		"endless",
	]);
});
