import { afterAll, beforeAll, expect, test } from "vitest";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { listDevices } from "../../src/devices/read-operations.ts";
import { addDevice, updateDevice } from "../../src/devices/write-operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { countRecords } from "../../src/overview/count-records.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";

let fleet: TestFleet;
let organization_id: string;

/** Returns noon of a day in March. */
const on = (day: number) => `2026-03-${String(day).padStart(2, "0")}T12:00:00Z`;
const shown = (day: number) => on(day).replace("Z", ".000Z");

beforeAll(async () => {
	fleet = await shareFleet();
	organization_id = await createOrganization(fleet.assay.database.pool, "Own");
	const organizationId = organization_id;
	const [mended, broken, revoked] = await fleet.assay.activateDevices(
		3,
		organization_id,
	);
	if (!mended || !broken || !revoked) throw new Error("there are no devices");
	for (const [device, name] of [
		[mended, "mended"],
		[broken, "broken"],
		[revoked, "revoked"],
	] as const) {
		await fleet.call(updateDevice, { id: device.id, name }, { organizationId });
	}
	const OWN = "OWN";
	await fleet.report(mended, { observed_at: on(1), status: "FAIL" });
	await fleet.report(mended, { observed_at: on(10), status: "PASS" });
	await fleet.report(broken, { observed_at: on(1), status: "PASS" });
	await fleet.report(broken, { observed_at: on(1), check_key: OWN });
	for (let day = 10; day < 20; day++) {
		await fleet.report(broken, { observed_at: on(day), status: "FAIL" });
	}
	await fleet.report(
		broken,
		{ observed_at: on(20), status: "FAIL" },
		{ observed_at: on(20), status: "UNKNOWN", check_key: OWN },
	);
	await fleet.report(revoked, { observed_at: on(1), status: "FAIL" });
	await fleet.assay.database.owner.query(
		"update devices set status = 'REVOKED', revoked_at = $2, key_hash = null where id = $1",
		[revoked.id, on(5)],
	);
	await fleet.call(
		addDevice,
		{ organization_id, name: "new" },
		{ organizationId },
	);
});
afterAll(() => fleet.assay.close());

const options = () => ({ organizationId: organization_id });
const list = (input: object = {}) =>
	fleet.call(
		listDevices,
		{ organization_id, order_by: { field: "name" }, ...input },
		options(),
	);
/** Only rows of a past time have is_stale, so the type of the present ones lacks it. */
const isStale = (device: object) =>
	"is_stale" in device ? device.is_stale : undefined;
const names = async (input: object) =>
	(await list(input)).devices.map(({ name }) => name);

test("as_of gives each device's status and checks at that time, and leaves out devices that were added later", async () => {
	const { devices } = await list({ as_of: on(2) });
	expect(
		devices.map((device) => [
			...[device.name, device.status, device.failing_count, isStale(device)],
			device.postures.map((posture) => [posture.check_key, posture.status]),
		]),
	).toEqual([
		[
			...["broken", "ACTIVE", 0, true],
			[
				["DISK_ENCRYPTION", "PASS"],
				["OWN", "PASS"],
			],
		],
		["mended", "ACTIVE", 1, true, [["DISK_ENCRYPTION", "FAIL"]]],
		["revoked", "ACTIVE", 1, true, [["DISK_ENCRYPTION", "FAIL"]]],
	]);
	const [mended] = (await list({ as_of: on(15), filter: { query: "mended" } }))
		.devices;
	expect(mended).toMatchObject({ failing_count: 0, status: "ACTIVE" });
	expect(mended?.postures).toMatchObject([
		{ status: "PASS", since: shown(10), observed_at: shown(10) },
	]);
	for (const field of [
		...["freshness", "last_seen_at", "conflicts", "duplicate_of"],
	]) {
		expect(mended).not.toHaveProperty(field);
	}
	expect(await names({ as_of: "2026-02-01T00:00:00Z" })).toEqual([]);
	expect(await names({})).toEqual(["broken", "mended", "new", "revoked"]);
});

test("filters describe the same time as as_of", async () => {
	const at = (day: number, filter: object) => names({ as_of: on(day), filter });
	const failing = { failing_check: "disk_encryption" };
	expect(await at(2, failing)).toEqual(["mended", "revoked"]);
	expect(await at(12, failing)).toEqual(["broken", "revoked"]);
	expect(await at(12, { passing_check: "DISK_ENCRYPTION" })).toEqual([
		"mended",
	]);
	expect(await at(12, { unknown_check: "OWN" })).toEqual([]);
	expect(await at(21, { unknown_check: "OWN" })).toEqual(["broken"]);
	const notPassing = { not_passing_check: "OWN" };
	expect(await at(12, notPassing)).toEqual([]);
	expect(await at(21, notPassing)).toEqual(["broken"]);
	expect(await at(2, { not_passing_check: "DISK_ENCRYPTION" })).toEqual([
		"mended",
		"revoked",
	]);
	expect(await at(12, { min_failing: 1 })).toEqual(["broken", "revoked"]);
	expect(await at(12, { min_failing: 2 })).toEqual([]);
	expect(await at(12, { failing_since_before: on(9) })).toEqual(["revoked"]);
	expect(
		await at(12, { failing_since_before: on(11), failing_check: "OWN" }),
	).toEqual([]);
	expect(await at(4, { status: "REVOKED" })).toEqual([]);
	expect(await at(6, { status: ["REVOKED"] })).toEqual(["revoked"]);
	expect(await at(6, { status: ["ACTIVE", "PENDING"] })).toEqual([
		"broken",
		"mended",
	]);
});

test("a list with as_of does not change while its pages are read and devices report", async () => {
	const filter = { failing_check: "DISK_ENCRYPTION" };
	const first = await list({ as_of: on(2), filter, size: 1 });
	const { next_cursor: cursor } = first;
	expect(first.total).toBe(2);
	const rest = await list({ as_of: on(2), filter, size: 1, cursor });
	expect(rest.devices.map(({ name }) => name)).toEqual(["revoked"]);
	await expect(list({ as_of: on(3), filter, size: 1, cursor })).rejects.toThrow(
		"cursor: belongs to another list",
	);
	await expect(list({ filter, size: 1, cursor })).rejects.toThrow(
		"cursor: belongs to another list",
	);
});

test("a brief row of a past time has no freshness, and the summary counts the same devices", async () => {
	const { devices } = await list({ as_of: on(12), detail: "brief" });
	expect(devices[0]).toMatchObject({
		name: "broken",
		// It reported every day from the 10th to the 20th.
		is_stale: false,
		passing_count: 1,
		postures: [{ check_key: "DISK_ENCRYPTION", status: "FAIL" }],
	});
	expect(devices[0]).not.toHaveProperty("freshness");
	for (const day of [2, 6, 12]) {
		const as_of = on(day);
		const summary = await fleet.call(
			listPostureSummary,
			{ organization_id, as_of },
			options(),
		);
		for (const status of ["PENDING", "ACTIVE", "REVOKED"] as const) {
			const { total } = await list({ as_of, filter: { status } });
			expect(summary.devices_by_status[status]).toBe(total);
		}
		expect(summary.active_devices).toBe(summary.devices_by_status.ACTIVE);
		const active = (await list({ as_of, filter: { status: "ACTIVE" } }))
			.devices;
		expect(summary.stale_devices).toBe(active.filter(isStale).length);
	}
});

test("a field or filter that is known only for the present is rejected together with as_of", async () => {
	const as_of = on(12);
	for (const [input, field] of [
		[{ include_evidence: true }, "include_evidence"],
		[{ order_by: { field: "last_seen_at" } }, "order_by.field"],
		[{ order_by: { field: "failing_since" } }, "order_by.field"],
		[{ filter: { freshness: "ONLINE" } }, "filter.freshness"],
		[{ filter: { conflict: "ANY" } }, "filter.conflict"],
	] as const) {
		await expect(list({ as_of, ...input })).rejects.toThrow(
			`${field}: is known only for the present`,
		);
	}
	await expect(list({ as_of: "2999-01-01T00:00:00Z" })).rejects.toThrow(
		"as_of: must not be in the future",
	);
});

test("countRecords with as_of counts the devices that the list has", async () => {
	const count = (input: object) =>
		fleet.call(
			countRecords,
			{ organization_id, kind: "device", ...input },
			options(),
		);
	const failing = { failing_check: "DISK_ENCRYPTION" };
	expect((await count({ as_of: on(2), filter: failing })).total).toBe(2);
	expect((await count({ as_of: on(12), filter: failing })).total).toBe(2);
	expect((await count({ as_of: "2026-02-01T00:00:00Z" })).total).toBe(0);
	expect((await count({ as_of: on(6), group_by: "status" })).groups).toEqual([
		{ value: "ACTIVE", count: 2 },
		{ value: "REVOKED", count: 1 },
	]);
	await expect(count({ as_of: on(6), group_by: "freshness" })).rejects.toThrow(
		"group_by: is known only for the present",
	);
	await expect(
		count({ as_of: on(6), filter: { conflict: "ANY" } }),
	).rejects.toThrow("filter.conflict: is known only for the present");
});

test("a brief row says when a device was revoked", async () => {
	const { devices } = await list({ detail: "brief" });
	expect(devices.find(({ name }) => name === "revoked")).toMatchObject({
		revoked_at: shown(5),
	});
	expect(devices[0]).not.toHaveProperty("revoked_at");
});

test("a brief row of the present has a freshness unless the device is revoked", async () => {
	const { devices } = await list({ detail: "brief", as_of: undefined });
	expect(devices.length).toBeGreaterThan(1);
	for (const { status, freshness } of devices) {
		expect(freshness === undefined).toBe(status === "REVOKED");
	}
	expect(devices.some(({ status }) => status === "REVOKED")).toBe(true);
});
