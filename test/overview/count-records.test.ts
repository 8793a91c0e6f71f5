import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
let owner: string;

beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: "Omar Haddad",
		primary_email_address: "omar@example.com",
		kind: "EMPLOYEE",
	});
	owner = people.id;
	for (const [name, category, treatment, owner_id] of [
		["Fire", "Sites", "MITIGATED", owner],
		["Theft", "Sites", "ACCEPTED", owner],
		["Phishing", "People", "MITIGATED", null],
	] as const) {
		await calls.call("addRisk", {
			...{ organization_id, name, category, treatment, owner_id },
			...{ inherent_likelihood: 2, inherent_impact: 2 },
		});
	}
	for (const platform of ["LINUX", "LINUX", "DARWIN", null]) {
		const { device } = await calls.call("addDevice", { organization_id });
		await calls.database.owner.query(
			"update devices set platform = $2 where id = $1",
			[device.id, platform],
		);
	}
});
afterAll(() => calls.close());

const count = (input: object) =>
	calls.call("countRecords", { organization_id, ...input });
const refusal = (input: object) =>
	calls.refusal("countRecords", { organization_id, ...input });

test("records are counted, all of them or those that match a filter", async () => {
	expect(await count({ kind: "risk" })).toEqual({
		total: 3,
		groups: [],
		omitted_groups: 0,
	});
	const filter = { treatment: "MITIGATED", query: "fire" };
	expect((await count({ kind: "risk", filter })).total).toBe(1);
	expect(
		(await count({ kind: "risk", filter: { query: "haddad" } })).total,
	).toBe(2);
	expect((await count({ kind: "audit" })).total).toBe(0);
});

test("groups come with their number, the largest first, and ids with names", async () => {
	expect(await count({ kind: "risk", group_by: "category" })).toEqual({
		total: 3,
		groups: [
			{ value: "Sites", count: 2 },
			{ value: "People", count: 1 },
		],
		omitted_groups: 0,
	});
	expect((await count({ kind: "risk", group_by: "owner_id" })).groups).toEqual([
		{ value: owner, name: "Omar Haddad", count: 2 },
		{ value: null, name: null, count: 1 },
	]);
});

test("devices are counted by platform and freshness", async () => {
	expect(
		(await count({ kind: "device", group_by: "platform" })).groups,
	).toEqual([
		{ value: "LINUX", count: 2 },
		{ value: "DARWIN", count: 1 },
		{ value: null, count: 1 },
	]);
	expect(
		(await count({ kind: "device", group_by: "freshness" })).groups,
	).toEqual([{ value: "NEVER", count: 4 }]);
});

test("a revoked device has no freshness, in counts as in the filter of lists", async () => {
	const { device } = await calls.call("addDevice", { organization_id });
	await calls.call("revokeDevice", { id: device.id });
	const { groups } = await count({ kind: "device", group_by: "freshness" });
	expect(groups).toEqual([
		{ value: "NEVER", count: 4 },
		{ value: null, count: 1 },
	]);
	const { total } = await calls.call("listDevices", {
		organization_id,
		filter: { freshness: "NEVER" },
	});
	expect(total).toBe(4);
	await calls.call("deleteDevice", { id: device.id });
});

test("the rarest groups are left out, and the result says how many", async () => {
	await calls.database.owner.query(
		`insert into measures (organization_id, id, name, category)
		select $1, $2 || lpad(to_hex(n), 8, '0'), 'x', 'category ' || n from generate_series(1, 103) n`,
		[organization_id, makeId(organization_id, "measure").slice(0, 24)],
	);
	const { total, groups, omitted_groups } = await count({
		kind: "measure",
		group_by: "category",
	});
	expect(total).toBe(103);
	expect(groups).toHaveLength(100);
	expect(omitted_groups).toBe(3);
});

test("a wrong filter, value or group is an error that says what is allowed", async () => {
	expect((await refusal({ kind: "risk", group_by: "name" })).message).toBe(
		"group_by: must be one of category, treatment, owner_id for the kind risk",
	);
	expect(
		(await refusal({ kind: "risk", filter: { category: "Site" } })).message,
	).toBe(
		'filter.category: no risks have the category "Site"; there are "Sites", "People"',
	);
	expect(
		(await refusal({ kind: "device", filter: { failing_check: "disk" } }))
			.fields,
	).toEqual(["filter.failing_check"]);
	expect(
		(await refusal({ kind: "risk", filter: { colour: "red" } })).fields,
	).toEqual(["filter"]);
	expect((await refusal({ kind: "user" })).fields).toEqual(["kind"]);
});

test("devices are counted by the state of a check only if the filter names the check", async () => {
	const input = { kind: "device", group_by: "check_state" };
	expect((await refusal(input)).message).toBe(
		"filter.check: is required with group_by check_state",
	);
	const unknown = await refusal({ ...input, filter: { check: "no check" } });
	expect(unknown.message).toMatch(
		/^filter\.check: no device has reported the check "no check"; the checks are DISK_/,
	);
	const filter = { check: "disk encryption" };
	expect(await count({ ...input, filter })).toMatchObject({ total: 4 });
	expect(
		await count({ ...input, filter: { ...filter, check_state: "FAILING" } }),
	).toMatchObject({ total: 0 });
});
