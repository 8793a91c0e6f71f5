import { afterAll, beforeAll, expect, test } from "vitest";
import { makePool } from "../../src/db/pool.ts";
import { PolicyCache } from "../../src/devices/policy-cache.ts";
import { CANONICAL_CHECKS, CHECK_KEYS } from "../../src/devices/terms.ts";
import {
	DEFAULT_THRESHOLDS,
	THRESHOLD_NAMES,
	THRESHOLDS,
} from "../../src/devices/thresholds.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { heartbeatBody } from "../support/service.ts";
import {
	type Json,
	shareTools,
	startTools,
	type TestTools,
} from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

/** Makes an organization, so that tests do not share a policy. */
async function makeOrganization() {
	const organization_id = await createOrganization(
		tools.database.pool,
		"Policy",
	);
	const admin = await tools.makeUser({ [organization_id]: "admin" });
	const read = async () =>
		(await tools.use("getDevicePolicy", { organization_id }, admin.token))
			.policy as Json;
	const update = (input: object) =>
		tools.call(
			"updateDevicePolicy",
			{ organization_id, ...input },
			admin.token,
		);
	return { organization_id, admin, read, update };
}

test("a new organization has the defaults, which members and viewers may read but not change", async () => {
	const { organization_id, read } = await makeOrganization();
	expect(await read()).toEqual({
		...DEFAULT_THRESHOLDS,
		max_silence_days: 3,
		exceptions_need_two_people: false,
		checks: CHECK_KEYS.map((key) => ({
			check_key: key,
			check_name: CANONICAL_CHECKS[key].name,
			is_required: true,
			platforms: ["DARWIN", "LINUX", "FREEBSD", "WINDOWS"],
			grace_days: 3,
			new_device_grace_days: 7,
			opens_nonconformity: true,
			per_device: false,
			severity: key === "DISK_ENCRYPTION" ? "MAJOR" : "MINOR",
			owner_id: null,
			owner_has_left: false,
		})),
		updated_at: expect.any(String),
	});
	for (const role of ["viewer", "member"] as const) {
		const { token } = await tools.makeUser({ [organization_id]: role });
		await tools.use("getDevicePolicy", { organization_id }, token);
		const refused = await tools.call(
			"updateDevicePolicy",
			{ organization_id, min_password_length: 12 },
			token,
		);
		expect(refused.status).toBe(403);
	}
});

test("an administrator changes only the given thresholds, and the audit log has the values before and after", async () => {
	const { organization_id, read, update } = await makeOrganization();
	expect((await update({ min_password_length: 12 })).status).toBe(200);
	expect((await update({ max_lock_delay_seconds: 300 })).status).toBe(200);
	expect(await read()).toMatchObject({
		...DEFAULT_THRESHOLDS,
		min_password_length: 12,
		max_lock_delay_seconds: 300,
	});
	await update({ min_password_length: 12 });
	const { rows } = await tools.database.owner.query(
		`select record_kind, record_id, changes from audit_entries
		where organization_id = $1 and operation = 'updateDevicePolicy' order by id`,
		[organization_id],
	);
	const entry = (changes: object) => ({
		record_kind: "device_policy",
		record_id: organization_id,
		changes,
	});
	expect(rows.slice(0, 2)).toEqual([
		entry({ min_password_length: { before: 8, after: 12 } }),
		entry({ max_lock_delay_seconds: { before: 900, after: 300 } }),
	]);
});

test.each(
	THRESHOLD_NAMES,
)("%s may have its bounds and nothing beyond, in the tool and in the database", async (name) => {
	const { least, most } = THRESHOLDS[name];
	const { organization_id, read, update } = await makeOrganization();
	for (const value of [least, most]) {
		expect((await update({ [name]: value })).status).toBe(200);
		expect((await read())[name]).toBe(value);
	}
	for (const value of [least - 1, most + 1]) {
		const refused = await update({ [name]: value });
		expect(refused.status).toBe(400);
		expect(refused.body.message).toContain(name);
		await expect(
			tools.database.owner.query(
				`update device_policies set ${name} = $2 where organization_id = $1`,
				[organization_id, value],
			),
		).rejects.toThrow("violates check constraint");
	}
});

test("an organization chooses whether Linux needs a scanner, from two words", async () => {
	const { organization_id, read, update } = await makeOrganization();
	const linux_malware_protection = "SCANNER_REQUIRED";
	expect((await update({ linux_malware_protection })).status).toBe(200);
	expect(await read()).toMatchObject({ linux_malware_protection });
	const refused = await update({ linux_malware_protection: "NOTHING" });
	expect(refused.status).toBe(400);
	expect(refused.body.message).toContain("MANDATORY_ACCESS_CONTROL_COUNTS");
	await expect(
		tools.database.owner.query(
			`update device_policies set linux_malware_protection = 'NOTHING'
			where organization_id = $1`,
			[organization_id],
		),
	).rejects.toThrow("violates check constraint");
});

test("one of two simultaneous changes of a policy is a conflict, even if the policy was never changed before", async () => {
	const { read, update } = await makeOrganization();
	for (const least of [10, 20]) {
		const { updated_at } = await read();
		const answers = await Promise.all(
			[least, least + 1].map((min_password_length) =>
				update({ min_password_length, if_updated_at: updated_at }),
			),
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
		const saved = answers.find(({ status }) => status === 200);
		expect(await read()).toEqual(saved?.body.policy);
		const refused = answers.find(({ status }) => status === 409);
		expect(refused?.body.message).toContain("device policy was last changed");
	}
});

test("the answer to a heartbeat has the thresholds of the device's organization", async () => {
	// The process has not read the policies yet, and its first heartbeat waits for them.
	const fresh = await startTools();
	try {
		const { organizationId: organization_id } = fresh;
		await fresh.use("updateDevicePolicy", {
			organization_id,
			min_password_length: 14,
			linux_malware_protection: "SCANNER_REQUIRED",
		});
		const policyOf = async (organization: string) => {
			const device = await fresh.enrollDevice(organization);
			const answer = await fresh.post(
				"heartbeat",
				heartbeatBody({ hardware_uuid: device.hardwareUuid }),
				{ key: device.key },
			);
			return ((await answer.json()) as Json).policy;
		};
		expect(await policyOf(organization_id)).toEqual({
			...DEFAULT_THRESHOLDS,
			min_password_length: 14,
			linux_malware_protection: "SCANNER_REQUIRED",
		});
		expect(await policyOf(fresh.otherOrganizationId)).toEqual(
			DEFAULT_THRESHOLDS,
		);
	} finally {
		await fresh.close();
	}
});

test("one statement serves any number of heartbeats, and a change is seen after the refresh", async () => {
	const { organization_id, update } = await makeOrganization();
	const device = await tools.enrollDevice(organization_id);
	const pool = makePool(
		{ connectionString: tools.database.url },
		{ max: 1, name: "policies" },
	);
	let statements = 0;
	pool.on("acquire", () => statements++);
	const lasting = new PolicyCache(pool, 3_600_000);
	await Promise.all(
		Array.from({ length: 100 }, () => lasting.thresholdsOf(device.id)),
	);
	expect(statements).toBe(1);

	const quick = new PolicyCache(pool, 0);
	expect(await quick.thresholdsOf(device.id)).toEqual(DEFAULT_THRESHOLDS);
	await update({ max_definitions_age_days: 3 });
	await quick.thresholdsOf(device.id);
	await quick.idle();
	const changed = { ...DEFAULT_THRESHOLDS, max_definitions_age_days: 3 };
	expect(await quick.thresholdsOf(device.id)).toEqual(changed);

	// From here on, no statement succeeds.
	await quick.idle();
	await pool.end();
	await quick.thresholdsOf(device.id);
	await quick.idle();
	expect(await quick.thresholdsOf(device.id)).toEqual(changed);
	const unread = new PolicyCache(pool, 3_600_000);
	expect(await unread.thresholdsOf(device.id)).toBeUndefined();
});
