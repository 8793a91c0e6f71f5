import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { TODAY } from "../../src/organizations/time-zone.ts";
import { textAsOf } from "../../src/records/as-of.ts";
import { tablesAsOf } from "../../src/records/past-tables.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

test("every column of a past table has the type of the present one, so PostgreSQL can use its indexes", async () => {
	const { owner } = calls.database;
	for (const { table, rowsAt } of tablesAsOf) {
		await owner.query(`create view past_${table} as ${rowsAt("now()")}`);
		const { rows } = await owner.query(
			`select p.attname as column, format_type(p.atttypid, null) as past,
				format_type(c.atttypid, null) as present
			from pg_attribute p
			left join pg_attribute c on c.attrelid = $2::regclass and c.attname = p.attname
			where p.attrelid = $1::regclass`,
			[`past_${table}`, table],
		);
		expect(rows.length).toBeGreaterThan(2);
		expect(
			rows.filter(({ past, present }) => past !== present),
			table,
		).toEqual([]);
	}
});

test("a field that is newer than a version has its initial value there", async () => {
	const { asset } = await calls.call("addAsset", {
		organization_id,
		name: "Old",
		asset_type: "PHYSICAL",
		amount: 7,
	});
	const { vendor } = await calls.call("addVendor", {
		organization_id,
		name: "Old",
		category: "OTHER",
		countries: ["DE", "CH"],
	});
	const as_of = await timeBetweenChanges(calls.database);
	await calls.call("updateAsset", { id: asset.id, amount: 8 });
	await calls.call("updateVendor", { id: vendor.id, countries: [] });
	const past = async () => [
		(await calls.call("getAsset", { id: asset.id, as_of })).asset.amount,
		(await calls.call("getVendor", { id: vendor.id, as_of })).vendor.countries,
	];
	expect(await past()).toEqual([7, ["DE", "CH"]]);
	await calls.database.owner.query(
		"update record_versions set fields = fields - array['amount', 'countries'] where record_id = any($1)",
		[[asset.id, vendor.id]],
	);
	expect(await past()).toEqual([1, []]);
});

test("today is the day of the moment, in the time zone of the organization", async () => {
	const setZone = (time_zone: string) =>
		calls.call("updateOrganizationSettings", { organization_id, time_zone });
	const todayAt = (at: string) =>
		withTenant(calls.database.pool, organization_id, async (client) => {
			const text = textAsOf(`select ${TODAY}::text as today`, at);
			return (await client.query<{ today: string }>(text)).rows[0]?.today;
		});
	expect(await todayAt("2026-03-01T23:30:00Z")).toBe("2026-03-01");
	await setZone("Europe/Berlin");
	expect(await todayAt("2026-03-01T23:30:00Z")).toBe("2026-03-02");
	await setZone("UTC");
});
