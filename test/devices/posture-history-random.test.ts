import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { POSTURE_STATUSES } from "../../src/devices/terms.ts";
import type { PostureResult } from "../../src/devices/wire.ts";
import { makeId } from "../../src/id.ts";
import { shareDatabase, type TestDatabase } from "../support/database.ts";
import {
	makePostureStore,
	observation,
	type PostureStore,
	type Span,
} from "../support/posture-store.ts";

let database: TestDatabase;
let store: PostureStore;
beforeAll(async () => {
	database = await shareDatabase();
	store = await makePostureStore(database);
});

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
	.map((all) => all.map((o) => observation(o.check, o.minute, o.status)));

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
				const device = await store.makeActiveDevice();
				const requests = cut(all, sizes);
				const send = (results: PostureResult[]) =>
					store.postures.record(device.keyHash, results, 100);
				// The test sends as many requests of one device at the same time as may wait for each
				// other.
				const atOnce = together ? 4 : 1;
				for (let i = 0; i < requests.length; i += atOnce) {
					await Promise.all(requests.slice(i, i + atOnce).map(send));
				}
				expect(await store.readSpans(device.id)).toEqual(expectedSpans(all));
				expect(await store.countReports(device.id)).toEqual({
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
				const device = await store.makeActiveDevice();
				const requests = cut(all, [3, 3, 3, 3, 3]).map((results) => {
					const id = makeId(store.organizationId, "device_posture_report");
					return results.map((one) => ({ ...one, correlation_id: id }));
				});
				for (const request of requests) {
					await store.postures.record(device.keyHash, request, 100);
					const again = requests[(numbers.next().value ?? 0) % requests.length];
					const sent = requests.slice(0, requests.indexOf(request) + 1);
					if (again && sent.includes(again)) {
						await store.postures.record(device.keyHash, again, 100);
					}
				}
				const spans = await store.readSpans(device.id);
				const { rows: before } = await database.owner.query(
					"select * from posture_reports where device_id = $1 order by report_id",
					[device.id],
				);
				for (const request of requests.toReversed()) {
					await store.postures.record(device.keyHash, request, 100);
				}
				const { rows: after } = await database.owner.query(
					"select * from posture_reports where device_id = $1 order by report_id",
					[device.id],
				);
				expect(after).toEqual(before);
				expect(await store.readSpans(device.id)).toEqual(spans);
				expect(spans).toEqual(expectedSpans(all));
			},
		),
		{ numRuns: 20 },
	);
});
