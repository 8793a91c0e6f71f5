import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { shareFleet, type TestFleet } from "../support/devices.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});

/** Returns an hour of March. */
const at = (hour: number) =>
	new Date(Date.UTC(2026, 2, 1) + hour * 3_600_000).toISOString();

test("any order of arrival gives the silences of the ordered times", async () => {
	const { assay, report } = fleet;
	await fc.assert(
		fc.asyncProperty(
			fc.uniqueArray(fc.nat(20), { minLength: 1, maxLength: 8 }),
			async (days) => {
				const device = await assay.activateDevice();
				for (const day of days) {
					await report(
						device,
						...["DISK_ENCRYPTION", "SCREEN_LOCK"].map((check_key) => ({
							check_key,
							observed_at: at(day * 16),
						})),
					);
				}
				const ordered = days.toSorted((a, b) => a - b);
				const expected = ordered
					.slice(1)
					.map((day, index) => [ordered[index] as number, day] as const)
					.filter(([before, after]) => (after - before) * 16 > 24)
					.map(([before, after]) => [at(before * 16), at(after * 16)]);
				const { rows } = await assay.database.owner.query<{
					since: Date;
					until: Date;
				}>(
					"select since, until from device_silences where device_id = $1 order by since",
					[device.id],
				);
				expect(
					rows.map(({ since, until }) => [
						since.toISOString(),
						until.toISOString(),
					]),
				).toEqual(expected);
			},
		),
		{ numRuns: 15 },
	);
});
