import { afterAll, beforeAll, expect, test } from "vitest";
import { listPostureSpans } from "../../src/devices/fleet-spans.ts";
import {
	revokeDevice,
	updateDevice,
} from "../../src/devices/write-operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";

let fleet: TestFleet;
let organization_id: string;
const names = new Map<string, string>();

/** Returns noon of a day in March. */
const on = (day: number) => `2026-03-${String(day).padStart(2, "0")}T12:00:00Z`;
const shown = (day: number) => on(day).replace("Z", ".000Z");

/** The days on which a device was observed, and whether the check passed. */
const DEVICES: Record<string, [day: number, status: "PASS" | "FAIL"][]> = {
	"fails within": [
		[2, "PASS"],
		[12, "FAIL"],
		[13, "PASS"],
	],
	"fails before and after": [
		[5, "FAIL"],
		[15, "FAIL"],
		[25, "FAIL"],
	],
	"passes within": [[12, "PASS"]],
	"fails before, passes after": [
		[5, "FAIL"],
		[25, "PASS"],
	],
	"passes before, fails after": [
		[5, "PASS"],
		[25, "FAIL"],
	],
	"passes within, fails after": [
		[15, "PASS"],
		[25, "FAIL"],
	],
	"fails before, then silent": [[5, "FAIL"]],
	"fails and passes before": [
		[5, "FAIL"],
		[8, "PASS"],
	],
	"fails after, unknown before": [[25, "FAIL"]],
	"revoked before": [[5, "FAIL"]],
};

beforeAll(async () => {
	fleet = await shareFleet();
	organization_id = await createOrganization(fleet.assay.database.pool, "Own");
	const wanted = Object.entries(DEVICES);
	const devices = await fleet.assay.activateDevices(
		wanted.length,
		organization_id,
	);
	for (const [index, [name, observations]] of wanted.entries()) {
		const device = devices[index];
		if (!device) throw new Error("there are too few devices");
		names.set(device.id, name);
		await fleet.call(
			updateDevice,
			{ id: device.id, name },
			{ organizationId: organization_id },
		);
		for (const [day, status] of observations) {
			await fleet.report(device, { observed_at: on(day), status });
		}
	}
	const revoked = [...names].find(([, name]) => name === "revoked before");
	await fleet.call(
		revokeDevice,
		{ id: revoked?.[0] ?? "" },
		{ organizationId: organization_id },
	);
	await fleet.assay.database.owner.query(
		"update devices set revoked_at = $2 where organization_id = $1 and status = 'REVOKED'",
		[organization_id, on(8)],
	);
});
afterAll(() => fleet.assay.close());

const period = { from: on(10), until: on(20) };
const list = (input: object = {}) =>
	fleet.call(
		listPostureSpans,
		{ organization_id, check_key: "DISK_ENCRYPTION", ...period, ...input },
		{ organizationId: organization_id, role: "viewer" },
	);

test("a failure of a revoked device has the time of the revocation, and others have none", async () => {
	const { posture_spans } = await list({ from: on(1) });
	const ends = Object.fromEntries(
		posture_spans.map(({ device_name, until, device_revoked_at }) => [
			device_name,
			[until, device_revoked_at],
		]),
	);
	expect(ends["revoked before"]).toEqual([null, new Date(on(8)).toISOString()]);
	expect(ends["fails within"]?.[1]).toBe(null);
});

test("one call distinguishes devices that were seen failing in a period from those that may have failed", async () => {
	const { posture_spans, ...rest } = await list();
	const held = Object.fromEntries(
		posture_spans.map((span) => [span.device_name, span.held]),
	);
	expect(held).toEqual({
		"fails within": "SEEN",
		"fails before and after": "SEEN",
		"fails before, passes after": "MAY_HAVE_HELD",
		"passes before, fails after": "MAY_HAVE_HELD",
		"passes within, fails after": "MAY_HAVE_HELD",
		"fails before, then silent": "MAY_HAVE_HELD",
	});
	expect(rest).toEqual({
		devices_seen: 2,
		devices_that_may_have: 4,
		next_cursor: null,
		total: 6,
		total_is_exact: true,
	});
	const within = posture_spans.find(
		({ device_name }) => device_name === "fails within",
	);
	expect(within).toEqual({
		device_id: expect.any(String),
		device_name: "fails within",
		device_status: "ACTIVE",
		device_revoked_at: null,
		owner_id: null,
		owner_name: null,
		held: "SEEN",
		since: shown(12),
		last_observed_at: shown(12),
		previous_observed_at: shown(2),
		until: shown(13),
	});
});

test("`held` limits the list to one of the two answers, and the pages follow each other, newest first", async () => {
	const all = await list();
	for (const held of ["SEEN", "MAY_HAVE_HELD"] as const) {
		const expected = all.posture_spans.filter((span) => span.held === held);
		expect((await list({ held })).posture_spans).toEqual(expected);
	}
	const paged = [];
	let cursor: string | null = null;
	do {
		const page: Awaited<ReturnType<typeof list>> = await list({
			size: 1,
			cursor,
		});
		expect(page.total).toBe(6);
		expect(page.devices_seen).toBe(cursor === null ? 2 : null);
		paged.push(...page.posture_spans);
		cursor = page.next_cursor;
	} while (cursor);
	expect(paged).toEqual(all.posture_spans);
	const since = paged.map((span) => span.since);
	expect(since).toEqual(since.toSorted().reverse());
	const { next_cursor } = await list({ size: 1 });
	await expect(
		list({ size: 1, status: "PASS", cursor: next_cursor }),
	).rejects.toThrow("cursor: belongs to another filter or organization");
	const open = { from: undefined, until: undefined, size: 1 };
	const begun = await list(open);
	const further = await list({ ...open, cursor: begun.next_cursor });
	expect(further.total).toBe(9);
});

test("without a period, every span with the status is SEEN, and a period may have only one end", async () => {
	const count = async (input: object) =>
		(await list({ from: undefined, until: undefined, ...input })).total;
	expect(await count({})).toBe(9);
	expect(await count({ status: "PASS" })).toBe(7);
	expect(await count({ held: "SEEN", until: on(7) })).toBe(5);
	expect(await count({ held: "SEEN", from: on(20) })).toBe(4);
});

test("a check is found by its name in any case, and one that no device reported is an error", async () => {
	expect((await list({ check_key: "full-disk encryption" })).total).toBe(6);
	await expect(list({ check_key: "disk" })).rejects.toThrow(
		'check_key: no device has reported the check "disk"; the checks are DISK_ENCRYPTION',
	);
	await expect(list({ until: on(9) })).rejects.toThrow(
		"until: must not be before from",
	);
	expect((await list({ check_key: "FIREWALL_ENABLED" })).posture_spans).toEqual(
		[],
	);
});
