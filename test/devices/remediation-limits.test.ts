import { afterAll, beforeAll, expect, test } from "vitest";
import { explain } from "../../src/devices/remediation/remediation.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import { postureResult } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let assay: TestTools;
beforeAll(async () => {
	assay = await shareTools();
});
afterAll(() => assay.close());

const policy = (changes: Partial<typeof DEFAULT_THRESHOLDS>) => ({
	...DEFAULT_THRESHOLDS,
	...changes,
});

/** Explains a failure, or what an agent could not determine. */
const told = (
	platform: string,
	check_key: string,
	evidence: Record<string, unknown>,
	limits?: typeof DEFAULT_THRESHOLDS,
) =>
	explain(
		{
			...{ platform, check_key, evidence },
			status: "reason" in evidence ? "UNKNOWN" : "FAIL",
		},
		[],
		limits,
	);

test("the reason and the commands name the length of passwords that the policy demands now", () => {
	const evidence = { minimum_length: 6, threshold: { min_password_length: 8 } };
	const { reason, remediation } = told(
		"LINUX",
		"PASSWORD_POLICY",
		evidence,
		policy({ min_password_length: 14 }),
	);
	expect(reason).toBe("the minimum length is 6; at least 14 is required");
	expect(remediation).toContain("`minlen = 14`");
	// A length that most policies accept, unless the policy demands more.
	expect(
		told("WINDOWS", "PASSWORD_POLICY", evidence, policy({})).remediation,
	).toContain("/minpwlen:12`");
	expect(
		told(
			"FREEBSD",
			"PASSWORD_POLICY",
			evidence,
			policy({ min_password_length: 30 }),
		).remediation,
	).toContain("min=disabled,30,30,30,30 ");
	expect(
		told("FREEBSD", "PASSWORD_POLICY", evidence, policy({})).remediation,
	).toContain("min=disabled,24,12,12,12 ");
	// The device itself has the threshold that judged it only.
	expect(told("LINUX", "PASSWORD_POLICY", evidence)).toEqual({
		reason: "the minimum length is 6; at least 8 is required",
		remediation: expect.stringContaining("minlen = 12"),
	});
});

test("a device that would meet a new policy is explained by the threshold that judged it", () => {
	expect(
		told(
			"LINUX",
			"PASSWORD_POLICY",
			{ minimum_length: 10, threshold: { min_password_length: 12 } },
			policy({ min_password_length: 8 }),
		).reason,
	).toBe("the minimum length is 10; at least 12 is required");
	expect(
		told(
			"LINUX",
			"SCREEN_LOCK",
			{ idle_seconds: 1200, threshold: { max_lock_delay_seconds: 900 } },
			policy({ max_lock_delay_seconds: 3600 }),
		).reason,
	).toBe("the screen locks after 20 min; at most 15 min are allowed");
});

test("the texts about the screen lock, patches and definitions name the limits of the policy", () => {
	const soon = policy({ max_lock_delay_seconds: 120 });
	expect(told("LINUX", "SCREEN_LOCK", { idle_seconds: 1200 }, soon)).toEqual({
		reason: "the screen locks after 20 min; at most 2 min are allowed",
		remediation: expect.stringContaining("idle-delay 120`"),
	});
	expect(
		told("FREEBSD", "SCREEN_LOCK", { idle_seconds: 1200 }, soon).remediation,
	).toContain("`xautolock -time 2`");
	const unknown = { reason: "desktop_not_supported" };
	expect(told("LINUX", "SCREEN_LOCK", unknown, soon).remediation).toContain(
		"Your organization allows 2 min.",
	);
	expect(told("LINUX", "SCREEN_LOCK", unknown).remediation).toContain(
		"Your organization allows 15 min, unless it chose another time.",
	);
	const strict = policy({ max_patch_age_days: 7, max_definitions_age_days: 2 });
	expect(
		told(
			"LINUX",
			"AUTO_UPDATE",
			{ patches_current: false, pending_update_days: 70 },
			strict,
		).reason,
	).toBe(
		"an available update has waited for 70 days; at most 7 days are allowed",
	);
	expect(
		told(
			"WINDOWS",
			"MALWARE_PROTECTION",
			{ signatures_current: false, signature_age_days: 9 },
			strict,
		).reason,
	).toBe("the definitions are 9 days old; at most 2 are allowed");
});

test("the page of a device follows the organization's policy, and the policy of its group before that", async () => {
	const { organizationId: organization_id } = assay;
	const device = await assay.activateDevice();
	const result = postureResult({
		check_key: "PASSWORD_POLICY",
		status: "FAIL",
		evidence: { minimum_length: 6 },
	});
	await assay.post("postures", { results: [result] }, { key: device.key });
	const reason = async (): Promise<Json> => {
		const found = await assay.use("getDevice", { id: device.id });
		return found.device.postures[0].reason;
	};
	expect(await reason()).toContain("at least 8 is required");
	await assay.use("updateDevicePolicy", {
		organization_id,
		min_password_length: 12,
	});
	expect(await reason()).toContain("at least 12 is required");
	const { device_group: group } = await assay.use("addDeviceGroup", {
		organization_id,
		name: "Servers",
		device_ids: [device.id],
	});
	await assay.use("setDeviceGroupPolicy", {
		group_id: group.id,
		min_password_length: 20,
	});
	await assay.database.owner.query(
		`update devices set group_policy_id = (
			select id from device_group_policies where group_id = $2
		) where id = $1`,
		[device.id, group.id],
	);
	expect(await reason()).toContain("at least 20 is required");
});
