import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { listDevices } from "../../src/devices/read-operations.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import {
	addDevice,
	revokeDevice,
	updateDevice,
} from "../../src/devices/write-operations.ts";
import { AppError } from "../../src/errors.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { countRecords } from "../../src/overview/count-records.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import { heartbeatBody, type TestDevice } from "../support/service.ts";

let fleet: TestFleet;
let encrypted: TestDevice;
let open: TestDevice;
let worst: TestDevice;

beforeAll(async () => {
	fleet = await shareFleet();
	encrypted = await enroll("encrypted", "LINUX");
	open = await enroll("open", "DARWIN");
	worst = await enroll("worst", "WINDOWS");
	await fleet.report(
		encrypted,
		{},
		{ check_key: "ACME_VPN" },
		{ check_key: "BACK\u202eUP\u{e0041}" },
	);
	await fleet.report(
		open,
		{ status: "FAIL", observed_at: "2026-03-01T08:00:00Z" },
		{ check_key: "TIME_SYNC", status: "NOT_APPLICABLE" },
	);
	await fleet.report(
		worst,
		{ status: "FAIL", observed_at: "2026-05-01T08:00:00Z" },
		{
			check_key: "FIREWALL_ENABLED",
			status: "FAIL",
			observed_at: "2026-01-01T08:00:00Z",
		},
		{
			check_key: "SCREEN_LOCK",
			status: "UNKNOWN",
			observed_at: "2026-05-01T08:00:00Z",
		},
	);
	const { people: person } = await fleet.call(recordOperations(people)[2], {
		organization_id: fleet.assay.organizationId,
		full_name: "Omar Haddad",
		primary_email_address: "omar@example.com",
		kind: "EMPLOYEE",
	});
	await fleet.call(updateDevice, { id: open.id, owner_id: person.id });
});
afterAll(() => fleet.assay.close());

async function enroll(name: string, platform: string): Promise<TestDevice> {
	const device = await fleet.assay.enrollDevice(fleet.assay.organizationId);
	const answer = await fleet.assay.post(
		"heartbeat",
		heartbeatBody({ hostname: `${name}.local`, platform }),
		{ key: device.key },
	);
	expect(answer.status).toBe(200);
	await fleet.call(updateDevice, { id: device.id, name });
	return device;
}

const list = (input: object) =>
	fleet.call(listDevices, {
		organization_id: fleet.assay.organizationId,
		...input,
	} as never);

const names = async (filter: object) =>
	(await list({ filter })).devices.map(({ name }) => name).sort();

const refusal = async (filter: object) => {
	const error = await list({ filter }).catch((thrown) => thrown);
	expect(error).toBeInstanceOf(AppError);
	return error as AppError;
};

describe("a filter by a check", () => {
	test.each([
		"DISK_ENCRYPTION",
		"disk_encryption",
		"disk encryption",
		"Full-disk encryption",
		"FULL DISK ENCRYPTION",
	])("finds the failing devices by %s", async (failing_check) => {
		expect(await names({ failing_check })).toEqual(["open", "worst"]);
		expect(await names({ not_passing_check: failing_check })).toEqual([
			"open",
			"worst",
		]);
		expect(await names({ not_passing_check: "SCREEN_LOCK" })).toEqual([
			"worst",
		]);
	});

	test("finds a check of the agent's own in upper and lower case", async () => {
		expect(await names({ passing_check: "acme_vpn" })).toEqual(["encrypted"]);
		expect(await names({ failing_check: "ACME_VPN" })).toEqual([]);
	});

	test("is an error that lists the existing checks if no device has reported the check", async () => {
		for (const filter of ["failing_check", "passing_check", "unknown_check"]) {
			const { code, message } = await refusal({ [filter]: "encryption" });
			expect(code).toBe("bad_request");
			expect(message).toBe(
				`filter.${filter}: no device has reported the check "encryption"; the checks are ${CHECK_KEYS.join(", ")}; agents of this organization also report "ACME_VPN", "BACKUP"`,
			);
		}
	});

	test("is an empty list for a canonical check that no device fails", async () => {
		expect(await names({ failing_check: "OS_VERSION" })).toEqual([]);
	});
});

describe("a filter by failures", () => {
	test("finds checks that have failed since before a time", async () => {
		const failing_since_before = "2026-02-01T00:00:00Z";
		expect(await names({ failing_since_before })).toEqual(["worst"]);
		expect(
			await names({ failing_since_before: "2026-04-01T00:00:00Z" }),
		).toEqual(["open", "worst"]);
	});

	test("by time concerns the check that failing_check names, if both are given", async () => {
		const failing_since_before = "2026-04-01T00:00:00Z";
		expect(
			await names({ failing_since_before, failing_check: "disk encryption" }),
		).toEqual(["open"]);
		const { total } = await fleet.call(countRecords, {
			organization_id: fleet.assay.organizationId,
			kind: "device",
			filter: { failing_since_before, failing_check: "disk encryption" },
		});
		expect(total).toBe(1);
	});

	test("an order by failing_since puts first what has failed longest, of failing_check if that is given", async () => {
		const order_by = { field: "failing_since" };
		const inOrder = async (input: object) => {
			const found: (string | null)[] = [];
			let cursor: string | null = null;
			do {
				const page = await list({ order_by, size: 1, cursor, ...input });
				found.push(...page.devices.map(({ name }) => name));
				cursor = page.next_cursor;
			} while (cursor !== null);
			return found;
		};
		const all = await inOrder({});
		expect(all.slice(0, 2)).toEqual(["worst", "open"]);
		expect(new Set(all).size).toBe((await list({})).total);
		expect(
			await inOrder({ filter: { failing_check: "Disk encryption" } }),
		).toEqual(["open", "worst"]);
		const quoted = `o'clock "\\ $1`;
		expect((await refusal({ failing_check: quoted })).code).toBe("bad_request");
		await expect(
			list({ order_by, filter: { failing_check: quoted } }),
		).rejects.toThrow("no device has reported the check");
	});

	test("finds the devices with several failing checks", async () => {
		expect(await names({ min_failing: 1 })).toEqual(["open", "worst"]);
		expect(await names({ min_failing: 2 })).toEqual(["worst"]);
	});
});

test("a version of the agent that no device has is rejected with the versions that there are", async () => {
	expect((await list({ filter: { agent_version: "1.0.0" } })).total).toBe(3);
	for (const input of [{}, { as_of: new Date().toISOString() }]) {
		await expect(
			list({ filter: { agent_version: "zzzz nonsense" }, ...input }),
		).rejects.toThrow(
			'filter.agent_version: no device has the agent "zzzz nonsense"; there are "1.0.0"',
		);
	}
	// A device has it, and another filter leaves the device out.
	const other = { agent_version: "1.0.0", status: "REVOKED" as const };
	expect((await list({ filter: other })).total).toBe(0);
});

test("several platforms, statuses and the owner's name are filters", async () => {
	expect(await names({ platform: ["LINUX", "WINDOWS"] })).toEqual([
		"encrypted",
		"worst",
	]);
	expect(await names({ owner: "haddad" })).toEqual(["open"]);
	expect(await names({ query: "omar open" })).toEqual(["open"]);
	expect((await refusal({ owner: "Verhoeven" })).message).toMatch(
		/^filter.owner: nobody's name or address contains "Verhoeven"/,
	);
	const hidden = await refusal({
		owner: "\u202eVer\u200b\u{e0100}hoeven\u0007",
	});
	expect(hidden.message).toContain('"Ver\\u{200b}\\u{e0100}hoeven"');
	expect(await names({ status: ["PENDING", "ACTIVE"] })).toHaveLength(3);
});

test("a brief row has the checks that fail or are unknown, and the numbers of the others", async () => {
	const { devices } = await list({
		detail: "brief",
		order_by: { field: "name" },
	});
	expect(devices).toEqual([
		expect.objectContaining({ failing_count: 0, passing_count: 3 }),
		{
			id: open.id,
			name: "open",
			hostname: "open.local",
			status: "ACTIVE",
			freshness: "ONLINE",
			platform: "DARWIN",
			os_version: expect.any(String),
			owner_id: expect.any(String),
			owner_name: "Omar Haddad",
			failing_count: 1,
			compliance: expect.any(String),
			missing_checks: expect.any(Array),
			passing_count: 0,
			not_applicable_count: 1,
			postures: [
				expect.objectContaining({
					check_key: "DISK_ENCRYPTION",
					status: "FAIL",
					since: "2026-03-01T08:00:00.000Z",
				}),
			],
		},
		expect.objectContaining({ failing_count: 2 }),
	]);
	const [, , last] = devices;
	expect(last?.postures.map(({ status }) => status).sort()).toEqual([
		"FAIL",
		"FAIL",
		"UNKNOWN",
	]);
});

test("the summary and the list agree on devices that never sent a heartbeat, were rejected or are revoked", async () => {
	const organizationId = await createOrganization(
		fleet.assay.database.pool,
		"Pending",
	);
	const by = { organizationId };
	await fleet.call(addDevice, { organization_id: organizationId }, by);
	const first = await fleet.assay.enrollDevice(organizationId);
	const second = await fleet.assay.enrollDevice(organizationId);
	const gone = await fleet.assay.enrollDevice(organizationId);
	const facts = heartbeatBody();
	await fleet.assay.post("heartbeat", facts, { key: first.key });
	await fleet.assay.post("heartbeat", facts, { key: second.key });
	await fleet.call(revokeDevice, { id: gone.id }, by);
	const summary = await fleet.call(
		listPostureSummary,
		{ organization_id: organizationId },
		by,
	);
	expect(summary).toMatchObject({
		devices_by_status: { PENDING: 2, ACTIVE: 1, REVOKED: 1 },
		pending_in_conflict: 1,
		devices_by_freshness: { ONLINE: 1, STALE: 0, MISSING: 0, NEVER: 2 },
	});
	const never = await fleet.call(
		listDevices,
		{
			organization_id: organizationId,
			filter: { freshness: "NEVER" },
		} as never,
		by,
	);
	expect(never.total).toBe(2);
	expect(never.devices.map(({ conflicts }) => conflicts.length).sort()).toEqual(
		[0, 1],
	);
	const before = await fleet.call(
		listPostureSummary,
		{ organization_id: organizationId, as_of: "2026-01-01T00:00:00Z" },
		by,
	);
	expect(before).toMatchObject({
		devices_by_status: { PENDING: 0, ACTIVE: 0, REVOKED: 0 },
		devices_by_freshness: null,
	});
});
