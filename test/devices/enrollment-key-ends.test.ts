import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { tellOfKeys } from "../../src/devices/ending-keys.ts";
import { type KeyEnrollments, startKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await startKeyEnrollments();
});
afterAll(() => assay.close());

test.each([
	1, 2, 9, 10, 20,
])("a key for %i devices runs out by their number when a tenth is left or the last one, and is open at first", async (max_devices) => {
	const { id } = await assay.addKey({ max_devices });
	const states: string[] = [];
	for (let used = 0; used <= max_devices; used++) {
		await assay.database.owner.query(
			"update enrollment_keys set used = $2 where id = $1",
			[id, used],
		);
		states.push((await assay.findKey(id)).state);
	}
	const warned =
		max_devices === 1 ? 0 : Math.max(1, Math.floor(max_devices / 10));
	expect(states).toEqual([
		...Array(max_devices - warned).fill("OPEN"),
		...Array(warned).fill("RUNNING_OUT"),
		"USED_UP",
	]);
});

test.each([
	[1, 2.4],
	[7, 7 * 2.4],
	[30, 3 * 24],
	[365, 7 * 24],
])("a key for %i days runs out by time %d hours before its end, and is open at first", async (expires_in_days, hours) => {
	const { id } = await assay.addKey({ expires_in_days });
	expect((await assay.findKey(id)).state).toBe("OPEN");
	for (const [left, state] of [
		[hours + 0.1, "OPEN"],
		[hours - 0.1, "RUNNING_OUT"],
	]) {
		await assay.database.owner.query(
			`update enrollment_keys set
				created_at = now() + ($2::float8 - $3::float8 * 24) * interval '1 hour',
				expires_at = now() + $2::float8 * interval '1 hour'
			where id = $1`,
			[id, left, expires_in_days],
		);
		expect((await assay.findKey(id)).state).toBe(state);
	}
});

test("a key makes one event when it runs out and one when it has ended, and none when it is revoked", async () => {
	const { organizationId, database } = assay;
	const tell = () =>
		withTenant(database.pool, organizationId, (client) =>
			tellOfKeys(client, organizationId),
		);
	const eventsOf = async (id: string) => {
		await tell();
		await tell();
		const { rows } = await database.owner.query(
			"select type, data ->> 'state' as state from events where record_id = $1 order by id",
			[id],
		);
		return rows.map(({ type, state }) => `${type} ${state}`);
	};
	const { id, secret } = await assay.addKey({ max_devices: 3 });
	const revoked = await assay.addKey({ max_devices: 1 });
	await assay.enroll(revoked.secret);
	await assay.use("revokeEnrollmentKey", { id: revoked.id });
	await assay.enroll(secret);
	expect(await eventsOf(id)).toEqual([]);
	await assay.enroll(secret);
	const out = "enrollment_key.running_out RUNNING_OUT";
	expect(await eventsOf(id)).toEqual([out]);
	await assay.enroll(secret);
	const both = [out, "enrollment_key.ended USED_UP"];
	expect(await eventsOf(id)).toEqual(both);
	// A key that is used up and expires later is no news.
	await database.owner.query(
		"update enrollment_keys set expires_at = now() where id = $1",
		[id],
	);
	expect(await eventsOf(id)).toEqual(both);
	expect(await eventsOf(revoked.id)).toEqual([]);
	const { enrollment_keys_ending: ending } = await assay.use("getOverview", {
		organization_id: organizationId,
	});
	expect(ending.ended).toBeGreaterThan(0);
	const { member } = assay;
	const seen = await assay.use(
		"getOverview",
		{ organization_id: organizationId },
		member.token,
	);
	expect(seen.enrollment_keys_ending).toBeNull();
});
