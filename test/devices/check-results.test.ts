import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { countMissingDay } from "../../src/devices/check-results/count-checks.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { postureResult } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { countChecksNow } from "../support/upkeep.ts";

let assay: TestTools;
beforeAll(async () => {
	assay = await shareTools();
});
afterAll(() => assay.close());

const CHECK = "DISK_ENCRYPTION";
const DAY = 86_400_000;
const daysAgo = (days: number) =>
	new Date(Date.now() - days * DAY).toISOString();

async function makeFleet() {
	const { pool, owner } = assay.database;
	const organization_id = await createOrganization(pool, "Results");
	const { token } = await assay.makeUser({ [organization_id]: "viewer" });
	const results = (input: Json = {}) =>
		assay.use("getCheckResults", { organization_id, ...input }, token);
	const count = async () => {
		await countChecksNow(pool, organization_id);
		return results({ check_keys: [CHECK] });
	};
	const device = async (status?: string, days = 0) => {
		const { id, key } = await assay.activateDevice(organization_id);
		await owner.query(
			"update devices set activated_at = now() - interval '100 days', created_at = now() - interval '5 days' where id = $1",
			[id],
		);
		for (let at = days; status && at >= 0; at -= 2) {
			const observed_at = daysAgo(at);
			const answer = await assay.post(
				"postures",
				{ results: [postureResult({ check_key: CHECK, status, observed_at })] },
				{ key },
			);
			expect(answer.status).toBe(204);
		}
		return id;
	};
	return { organization_id, token, results, count, device };
}

/** Counts days that have no count, at most this many, and returns how many it counted. */
async function fillDays(organizationId: string, most = 366): Promise<number> {
	for (let filled = 0; filled < most; filled++) {
		const isMore = await countMissingDay(assay.database.pool, organizationId);
		if (!isMore) return filled;
	}
	return most;
}

test("results count each state, and only a pass counts as passing", async () => {
	const fleet = await makeFleet();
	await fleet.device("PASS");
	await fleet.device("PASS");
	await fleet.device("FAIL", 6);
	await fleet.device("FAIL");
	await fleet.device("UNKNOWN");
	await fleet.device();
	await fleet.device("NOT_APPLICABLE");
	const excused = await fleet.device("FAIL", 6);
	await assay.database.owner.query(
		`insert into device_exceptions
			(organization_id, id, check_key, scope, device_id, decision, decided_at, reason, starts_at, ends_at)
		values ($1, $2, $3, 'DEVICE', $4, 'APPROVED', now(), 'Repair', now() - interval '1 day', now() + interval '9 days')`,
		[fleet.organization_id, "E".repeat(32), CHECK, excused],
	);
	const { checks, counted_at } = await fleet.count();
	expect(counted_at).not.toBeNull();
	expect(checks).toEqual([
		{
			check_key: CHECK,
			check_name: "Full-disk encryption",
			required_devices: 7,
			// 2 of 6: the excepted device and the one without the check do not count.
			pass_percent: 33.3,
			states: {
				PASSING: 2,
				FAILING: 1,
				IN_GRACE: 1,
				EXCEPTED: 1,
				UNKNOWN: 1,
				STALE: 0,
				NOT_REPORTED: 1,
				NOT_APPLICABLE: 1,
			},
		},
	]);
	const all = (await fleet.results()).checks;
	expect(all).toHaveLength(CHECK_KEYS.length);
	expect(all).toContainEqual(checks[0]);
});

test("without a recent count nothing is known, and a check that the policy does not require has no devices", async () => {
	const fleet = await makeFleet();
	await fleet.device("PASS");
	await fleet.count();
	await assay.database.owner.query(
		"update check_count_days set counted_at = now() - interval '25 hours', day = day - 1 where organization_id = $1",
		[fleet.organization_id],
	);
	const old = await fleet.results({ check_keys: ["full-disk encryption"] });
	expect(old.counted_at).toBeNull();
	expect(old.checks[0]).toMatchObject({
		required_devices: 0,
		pass_percent: null,
	});
	const admin = await assay.makeUser({ [fleet.organization_id]: "admin" });
	const change = { check_key: CHECK, is_required: false };
	const input = { organization_id: fleet.organization_id, checks: [change] };
	await assay.use("updateDevicePolicy", input, admin.token);
	const { checks, counted_at } = await fleet.count();
	expect(counted_at).not.toBeNull();
	expect(checks[0]).toMatchObject({ required_devices: 0, pass_percent: null });
	expect((await fleet.results()).checks).toHaveLength(CHECK_KEYS.length - 1);
});

test("the history has the last count of each day, and a day without one is counted from the spans", async () => {
	const fleet = await makeFleet();
	await fleet.device("FAIL", 4);
	await fleet.device("PASS", 4);
	await fleet.count();
	const history = async () =>
		(await fleet.results({ check_keys: [CHECK], history_days: 30 })).history;
	const [today] = await history();
	expect(today).toMatchObject({
		day: daysAgo(0).slice(0, 10),
		pass_percent: 50,
	});
	// The devices are five days old, and today was counted before.
	expect(await fillDays(fleet.organization_id)).toBe(5);
	const days = await history();
	expect(days.map(({ day }: Json) => day)).toEqual(
		[5, 4, 3, 2, 1, 0].map((days) => daysAgo(days).slice(0, 10)),
	);
	expect(days.at(-2)).toMatchObject({ passing: 1, failing: 1, unknown: 0 });
	expect(days[0]).toMatchObject({ passing: 0, unknown: 2, pass_percent: 0 });
});

test("a whole year is counted later, because reports look back at any of its days", async () => {
	const fleet = await makeFleet();
	const id = await fleet.device();
	await assay.database.owner.query(
		"update devices set activated_at = now() - interval '200 days', created_at = now() - interval '200 days' where id = $1",
		[id],
	);
	await fleet.count();
	// As if most days had been counted on time: all but a week, the ends of months and the oldest days.
	await assay.database.owner.query(
		`insert into check_count_days (organization_id, day, counts, compliance)
		select k.organization_id, d.day, k.counts, k.compliance
		from check_count_days k
		cross join lateral (select k.day - i as day from generate_series(8, 190) i) d
		where k.organization_id = $1 and k.day = (now() at time zone 'UTC')::date
			and extract(day from d.day + 1) <> 1
		on conflict do nothing`,
		[fleet.organization_id],
	);
	const history = async () =>
		(await fleet.results({ check_keys: [CHECK], history_days: 366 })).history;
	// The trends show the ends of months, so these come first.
	await fillDays(fleet.organization_id, 6);
	const [oldest] = await history();
	expect(oldest.day < daysAgo(130)).toBe(true);
	await fillDays(fleet.organization_id);
	const today = daysAgo(0).slice(0, 10);
	const days = (await history()).map(({ day }: Json) => day);
	expect(days.filter((day: string) => day < today)).toEqual(
		Array.from({ length: 200 }, (_, i) => daysAgo(200 - i).slice(0, 10)),
	);
});

test("a history needs the checks that it is about, and a check that nobody reports is an error", async () => {
	const fleet = await makeFleet();
	const input = { organization_id: fleet.organization_id };
	const missing = await assay.call(
		"getCheckResults",
		{ ...input, history_days: 9 },
		fleet.token,
	);
	expect(missing.status).toBe(400);
	expect(missing.body.message).toContain("check_keys");
	const unknown = await assay.call(
		"getCheckResults",
		{ ...input, check_keys: ["DISC_ENCRYPTION"] },
		fleet.token,
	);
	expect(unknown.status).toBe(400);
	expect(unknown.body.message).toContain("check_keys[0]");
});

test("the service counts an organization soon after a device has reported", async () => {
	const fleet = await makeFleet();
	await fleet.device("PASS");
	await vi.waitFor(
		async () => {
			const [check] = (await fleet.results({ check_keys: [CHECK] })).checks;
			expect(check.states.PASSING).toBe(1);
		},
		{ timeout: 60_000, interval: 500 },
	);
});
