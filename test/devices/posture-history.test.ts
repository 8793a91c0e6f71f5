import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Postures } from "../../src/devices/postures.ts";
import {
	POSTURE_STATUSES,
	type PostureStatus,
} from "../../src/devices/terms.ts";
import type { PostureResult } from "../../src/devices/wire.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashSecret, makeSecret } from "../../src/tokens/secret.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let postures: Postures;
let organizationId: string;
beforeAll(async () => {
	database = await createDatabase();
	postures = new Postures(database.pool);
	organizationId = await createOrganization(database.pool, "Acme");
});
afterAll(() => database.drop());

async function makeActiveDevice() {
	const id = makeId(organizationId, "device");
	const keyHash = hashSecret(makeSecret("dev"));
	const hardwareUuid = crypto.randomUUID();
	await database.owner.query(
		`insert into devices (organization_id, id, status, key_hash, hardware_uuid, hardware_hash, platform)
		values ($1, $2, 'ACTIVE', $3, $4, sha256(convert_to($4, 'UTF8')), 'LINUX')`,
		[organizationId, id, `\\x${keyHash}`, hardwareUuid],
	);
	return { id, keyHash };
}

interface Span {
	check_key: string;
	status: PostureStatus;
	since: Date;
	last_observed_at: Date;
	is_current: boolean;
}

async function readSpans(deviceId: string): Promise<Span[]> {
	const { rows } = await database.owner.query<Span>(
		`select check_key, status, since, last_observed_at, is_current from posture_spans
		where device_id = $1 order by check_key, since`,
		[deviceId],
	);
	return rows;
}

async function countReports(deviceId: string) {
	const { rows } = await database.owner.query<{
		reports: number;
		results: number;
	}>(
		`select count(*)::int as reports, coalesce(sum(jsonb_array_length(results)), 0)::int as results
		from posture_reports where device_id = $1`,
		[deviceId],
	);
	return rows[0];
}

const START = Date.parse("2026-03-01T00:00:00Z");

function result(
	check: string,
	minute: number,
	status: PostureStatus,
	correlationId?: string,
): PostureResult {
	return {
		check_key: check,
		status,
		observed_at: (START + minute * 60_000) * 1000,
		correlation_id: correlationId,
	};
}

const at = (minute: number) => new Date(START + minute * 60_000);

/**
 * Returns the expected history: the observations ordered by time, with consecutive equal ones
 * merged.
 */
function expectedSpans(observations: PostureResult[]): Span[] {
	const spans: Span[] = [];
	const ordered = observations.toSorted(
		(a, b) =>
			(a.check_key < b.check_key ? -1 : a.check_key > b.check_key ? 1 : 0) ||
			a.observed_at - b.observed_at,
	);
	for (const { check_key, status, observed_at } of ordered) {
		const time = new Date(observed_at / 1000);
		const last = spans.at(-1);
		if (last?.check_key === check_key) {
			if (last.status === status) {
				last.last_observed_at = time;
				continue;
			}
			last.is_current = false;
		}
		spans.push({
			check_key,
			status,
			since: time,
			last_observed_at: time,
			is_current: true,
		});
	}
	return spans;
}

const observations = fc
	.uniqueArray(
		fc.record({
			check: fc.constantFrom("DISK_ENCRYPTION", "SCREEN_LOCK", "CUSTOM"),
			minute: fc.nat(40),
			status: fc.constantFrom(...POSTURE_STATUSES.slice(0, 3)),
		}),
		{
			selector: (o) => `${o.check} ${o.minute}`,
			minLength: 1,
			maxLength: 40,
		},
	)
	.map((all) => all.map((o) => result(o.check, o.minute, o.status)));

/** Divides a list into requests of the given sizes. The last request gets the rest. */
function cut<Item>(items: Item[], sizes: number[]): Item[][] {
	const parts: Item[][] = [];
	let from = 0;
	for (const size of sizes) {
		if (from < items.length) parts.push(items.slice(from, from + size));
		from += size;
	}
	if (from < items.length) parts.push(items.slice(from));
	return parts;
}

test("observations that arrive in any order become a history in the order of their times", async () => {
	await fc.assert(
		fc.asyncProperty(
			observations.chain((all) =>
				fc.tuple(
					fc.shuffledSubarray(all, { minLength: all.length }),
					fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 20 }),
					fc.boolean(),
				),
			),
			async ([all, sizes, together]) => {
				const device = await makeActiveDevice();
				const requests = cut(all, sizes);
				const send = (results: PostureResult[]) =>
					postures.record(device.keyHash, results, 100);
				// The test sends as many requests of one device at the same time as may wait for each
				// other.
				const atOnce = together ? 4 : 1;
				for (let i = 0; i < requests.length; i += atOnce) {
					await Promise.all(requests.slice(i, i + atOnce).map(send));
				}
				expect(await readSpans(device.id)).toEqual(expectedSpans(all));
				expect(await countReports(device.id)).toEqual({
					reports: requests.length,
					results: all.length,
				});
			},
		),
		{ numRuns: 50 },
	);
});

test("reports sent again, in any order and at any time, change nothing", async () => {
	await fc.assert(
		fc.asyncProperty(
			observations,
			fc.infiniteStream(fc.nat()),
			async (all, numbers) => {
				const device = await makeActiveDevice();
				const requests = cut(all, [3, 3, 3, 3, 3]).map((results) => {
					const id = makeId(organizationId, "device_posture_report");
					return results.map((one) => ({ ...one, correlation_id: id }));
				});
				for (const request of requests) {
					await postures.record(device.keyHash, request, 100);
					const again = requests[(numbers.next().value ?? 0) % requests.length];
					const sent = requests.slice(0, requests.indexOf(request) + 1);
					if (again && sent.includes(again)) {
						await postures.record(device.keyHash, again, 100);
					}
				}
				const spans = await readSpans(device.id);
				const { rows: before } = await database.owner.query(
					"select * from posture_reports where device_id = $1 order by report_id",
					[device.id],
				);
				for (const request of requests.toReversed()) {
					await postures.record(device.keyHash, request, 100);
				}
				const { rows: after } = await database.owner.query(
					"select * from posture_reports where device_id = $1 order by report_id",
					[device.id],
				);
				expect(after).toEqual(before);
				expect(await readSpans(device.id)).toEqual(spans);
				expect(spans).toEqual(expectedSpans(all));
			},
		),
		{ numRuns: 20 },
	);
});

test("a report that is sent again with further results is extended by exactly these results", async () => {
	const device = await makeActiveDevice();
	const id = makeId(organizationId, "device_posture_report");
	const first = result("DISK_ENCRYPTION", 1, "PASS", id);
	const second = {
		...result("SCREEN_LOCK", 1, "FAIL", id),
		evidence: { a: 1 },
	};
	await postures.record(device.keyHash, [first], 100);
	await postures.record(device.keyHash, [first, second], 100);
	await postures.record(device.keyHash, [second], 100);
	const { rows } = await database.owner.query<{ results: unknown }>(
		"select results from posture_reports where device_id = $1",
		[device.id],
	);
	expect(rows).toEqual([
		{
			results: [
				{
					check_key: "DISK_ENCRYPTION",
					status: "PASS",
					observed_at: "2026-03-01T00:01:00.000000Z",
				},
				{
					check_key: "SCREEN_LOCK",
					status: "FAIL",
					observed_at: "2026-03-01T00:01:00.000000Z",
					evidence: { a: 1 },
				},
			],
		},
	]);
	expect(await readSpans(device.id)).toHaveLength(2);
});

test("a result with a future time is stored with the current time, and is recognized when it is sent again", async () => {
	const device = await makeActiveDevice();
	const id = makeId(organizationId, "device_posture_report");
	const future = Date.now() + 3_600_000;
	const claim = {
		...result("DISK_ENCRYPTION", 0, "PASS", id),
		observed_at: future * 1000,
	};
	await postures.record(device.keyHash, [claim], 100);
	await postures.record(device.keyHash, [claim], 100);
	const [span] = await readSpans(device.id);
	expect(span?.since.getTime()).toBeLessThanOrEqual(Date.now());
	expect(await countReports(device.id)).toEqual({ reports: 1, results: 1 });
});

test("an older observation never replaces the current state", async () => {
	const device = await makeActiveDevice();
	await postures.record(device.keyHash, [result("A", 10, "PASS")], 100);
	await postures.record(device.keyHash, [result("A", 5, "FAIL")], 100);
	expect(await readSpans(device.id)).toEqual([
		{
			check_key: "A",
			status: "FAIL",
			since: at(5),
			last_observed_at: at(5),
			is_current: false,
		},
		{
			check_key: "A",
			status: "PASS",
			since: at(10),
			last_observed_at: at(10),
			is_current: true,
		},
	]);
});

test("if the raw reports have been removed, a contradicting result splits a span at its known ends", async () => {
	const device = await makeActiveDevice();
	for (const minute of [0, 10, 20, 30]) {
		await postures.record(device.keyHash, [result("A", minute, "PASS")], 100);
	}
	await database.owner.query(
		"delete from posture_reports where device_id = $1",
		[device.id],
	);
	await postures.record(device.keyHash, [result("A", 15, "FAIL")], 100);
	expect(await readSpans(device.id)).toMatchObject([
		{ status: "PASS", since: at(0), last_observed_at: at(0) },
		{ status: "FAIL", since: at(15), last_observed_at: at(15) },
		{
			status: "PASS",
			since: at(30),
			last_observed_at: at(30),
			is_current: true,
		},
	]);
});

test("the first of two observations with the same time to arrive counts", async () => {
	const device = await makeActiveDevice();
	for (const minute of [0, 1, 2]) {
		await postures.record(device.keyHash, [result("A", minute, "PASS")], 100);
	}
	const before = await readSpans(device.id);
	for (const minute of [0, 1, 2]) {
		await postures.record(device.keyHash, [result("A", minute, "FAIL")], 100);
	}
	expect(await readSpans(device.id)).toEqual(before);
});

test("however often checks change, the current spans of a device stay together", async () => {
	const devices = await Promise.all(
		Array.from({ length: 60 }, makeActiveDevice),
	);
	const checks = Array.from({ length: 9 }, (_, check) => `CHECK_${check}`);
	// In each round, another check has changed.
	const rounds = 18;
	for (let round = 0; round <= rounds; round++) {
		await Promise.all(
			devices.map(({ keyHash }) =>
				postures.record(
					keyHash,
					checks.map((check, n) => {
						const changes = Math.ceil((round - n) / checks.length);
						return result(check, round, changes % 2 ? "FAIL" : "PASS");
					}),
					100,
				),
			),
		);
	}
	const { rows } = await database.owner.query<{
		spans: number;
		pages: number;
	}>(
		`select count(*)::int as spans,
			(count(distinct (ctid::text::point)[0]) filter (where is_current))::int as pages
		from posture_spans where device_id = any ($1::text[]) group by device_id`,
		[devices.map(({ id }) => id)],
	);
	expect(rows.map(({ spans }) => spans)).toEqual(
		devices.map(() => checks.length + rounds),
	);
	const pages = rows.reduce((sum, row) => sum + row.pages, 0) / rows.length;
	// As new rows at the end of the table, they would lie on eight.
	expect(pages).toBeLessThan(5);
});
