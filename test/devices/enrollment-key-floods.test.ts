import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeviceStatuses } from "../../src/devices/authentication.ts";
import { enroll, makeEnrolling } from "../../src/devices/enrollment.ts";
import { type KeyEnrollments, startKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await startKeyEnrollments();
});
afterAll(() => assay.close());

describe("an enrollment key", () => {
	test("needs far fewer changes of its row than devices that come together", async () => {
		const { id, secret } = await assay.addKey({ max_devices: 200 });
		await assay.database.owner.query(`
			create table uses (n integer);
			create function note_use() returns trigger language plpgsql security definer as
				$$ begin insert into uses values (new.used - old.used); return null; end $$;
			create trigger note_use after update on enrollment_keys
				for each row execute function note_use()`);
		await Promise.all(Array.from({ length: 200 }, () => assay.enroll(secret)));
		const { rows } = await assay.database.owner.query<{ n: number }>(
			"select n from uses",
		);
		await assay.database.owner.query(
			"drop trigger note_use on enrollment_keys; drop table uses",
		);
		expect(rows.reduce((sum, { n }) => sum + n, 0)).toBe(200);
		expect(rows.length).toBeLessThan(100);
		expect((await assay.findKey(id)).state).toBe("USED_UP");
	});

	// This test and the next wait for the same time limit, so they wait at the same time.
	test.concurrent("under a flood gets 503 with Retry-After, and another organization's device enrolls meanwhile", async () => {
		const { secret, id } = await assay.addKey({ max_devices: 100_000 });
		const { token } = await assay.makeToken(assay.otherOrganizationId);
		const lock = await assay.database.owner.connect();
		let answers: Response[];
		try {
			// As long as somebody holds the key's row, the devices have to wait.
			await lock.query("begin");
			await lock.query("select from enrollment_keys where id = $1 for update", [
				id,
			]);
			const flood = Promise.all(
				Array.from({ length: 900 }, () =>
					assay.post("enroll", { token: secret }),
				),
			);
			expect((await assay.post("enroll", { token })).status).toBe(200);
			answers = await flood;
		} finally {
			await lock.query("rollback");
			lock.release();
		}
		expect(new Set(answers.map(({ status }) => status))).toEqual(
			new Set([503]),
		);
		expect(answers[0]?.headers.get("retry-after")).toBe("15");
		await assay.enroll(secret);
	});

	test.concurrent("has 512 devices waiting at most, and turns further ones away at once", async () => {
		const { secret, id } = await assay.addKey({ max_devices: 100_000 });
		const { pool } = assay.database;
		const enrolling = makeEnrolling(pool, new DeviceStatuses(pool));
		const lock = await assay.database.owner.connect();
		try {
			await lock.query("begin");
			await lock.query("select from enrollment_keys where id = $1 for update", [
				id,
			]);
			const refused = await Promise.allSettled(
				Array.from({ length: 900 }, () => enroll(enrolling, secret, {})),
			);
			const messages = refused.map((one) =>
				one.status === "rejected" ? one.reason.message : "enrolled",
			);
			// One batch of 128 may have left the list before the others came.
			const atOnce = messages.filter((text) =>
				text.startsWith("too many devices use this enrollment key"),
			);
			expect(atOnce.length).toBeGreaterThanOrEqual(900 - 512 - 128);
			expect(atOnce.length).toBeLessThanOrEqual(900 - 512);
		} finally {
			await lock.query("rollback");
			lock.release();
		}
	});
});
