import { expect, test } from "vitest";
import { pass, unknown } from "../../agent/checks/check.ts";
import {
	checkMalwareProtection as checkLinuxMalware,
	PROTECTION_UNITS,
} from "../../agent/checks/linux/malware-protection.ts";
import { checkMalwareProtection } from "../../agent/checks/macos/malware-protection.ts";
import { runChecks } from "../../agent/checks/run-checks.ts";
import { once } from "../../agent/once.ts";
import { readState, readStoredThresholds } from "../../agent/state.ts";
import { explain } from "../../src/devices/remediation/remediation.ts";
import {
	type Choices,
	DEFAULT_THRESHOLDS,
} from "../../src/devices/thresholds.ts";
import { makeEnrolledFolder, makeParts } from "./folders.ts";
import { recordedHost } from "./recorded-host.ts";
import { linux, units } from "./recordings/linux.ts";
import { GOOD_MAC } from "./recordings/macos.ts";
import { respond, startScriptedService } from "./scripted-service.ts";

/** A Linux on which a new password needs 10 characters. */
const host = recordedHost({
	platform: "LINUX",
	files: {
		"/etc/pam.d/passwd":
			"password required pam_unix.so obscure minlen=10 yescrypt\n",
	},
});

/** Answers heartbeats with this policy, if there is one. */
async function startWithPolicy(policy: unknown) {
	const service = await startScriptedService();
	let sent = policy;
	service.answer((request, response) => {
		if (request.route !== "heartbeat") return true;
		respond(response, 200, {
			device_id: service.deviceId,
			heartbeat_interval_seconds: 300,
			posture_interval_seconds: 3600,
			server_time: new Date().toISOString(),
			...(sent === undefined ? {} : { policy: sent }),
		});
		return false;
	});
	const { folder } = await makeEnrolledFolder(service.url);
	return {
		folder,
		setPolicy: (next: unknown) => {
			sent = next;
		},
		/** Returns the password policy's result, judged after a heartbeat. */
		judge: async () => {
			const { results } = await once({
				folder,
				force: true,
				...makeParts(host),
			});
			return results.find(({ check_key }) => check_key === "PASSWORD_POLICY");
		},
	};
}

test("the agent judges by the thresholds in the heartbeat's answer, and the result says which", async () => {
	const agent = await startWithPolicy({ min_password_length: 12 });
	expect(await agent.judge()).toMatchObject({
		status: "FAIL",
		evidence: {
			minimum_length: 10,
			threshold: { min_password_length: 12 },
		},
	});
	agent.setPolicy({ min_password_length: 10 });
	expect(await agent.judge()).toMatchObject({
		status: "PASS",
		evidence: { threshold: { min_password_length: 10 } },
	});
	// The service could not read the policy, so the agent keeps what it knows.
	agent.setPolicy(undefined);
	await agent.judge();
	expect(await readStoredThresholds(agent.folder)).toEqual({
		...DEFAULT_THRESHOLDS,
		min_password_length: 10,
	});
});

test.each([
	["a service without a policy", undefined, DEFAULT_THRESHOLDS],
	["no object", "strict", DEFAULT_THRESHOLDS],
	[
		"numbers out of bounds",
		{ min_password_length: 0, max_lock_delay_seconds: 1e9 },
		{
			...DEFAULT_THRESHOLDS,
			min_password_length: 6,
			max_lock_delay_seconds: 3600,
		},
	],
	[
		"wrong types and unknown names",
		{ min_password_length: "12", max_patch_age_days: 1.5, colour: "red" },
		DEFAULT_THRESHOLDS,
	],
	[
		"a choice that does not exist",
		{ linux_malware_protection: "NOTHING_COUNTS" },
		DEFAULT_THRESHOLDS,
	],
	[
		"a choice",
		{ linux_malware_protection: "SCANNER_REQUIRED" },
		{ ...DEFAULT_THRESHOLDS, linux_malware_protection: "SCANNER_REQUIRED" },
	],
])("with %s in the answer, the thresholds of the agent stay within their bounds", async (_, policy, expected) => {
	const agent = await startWithPolicy(policy);
	await agent.judge();
	expect((await readState(agent.folder))?.thresholds).toEqual(expected);
});

test("XProtect's definitions may be as old as an update", async () => {
	const mac = recordedHost(GOOD_MAC);
	const judge = (days: number) =>
		checkMalwareProtection({ ...mac, threshold: () => days });
	const { definitions_age_days } = (await judge(60)).evidence;
	expect(definitions_age_days).toBe(10);
	expect((await judge(10)).status).toBe("PASS");
	expect((await judge(9)).status).toBe("FAIL");
});

test("a Linux with AppArmor alone passes until the organization requires a scanner, and the result says which rule judged it", async () => {
	const device = recordedHost(
		linux({
			files: {
				"/sys/module/apparmor/parameters/enabled": "Y\n",
				"/sys/kernel/security/apparmor/profiles": "cupsd (enforce)\n",
			},
			commands: units(PROTECTION_UNITS, {}),
		}),
	);
	const judge = async (chosen: Choices["linux_malware_protection"]) => {
		const results = await runChecks(
			{ MALWARE_PROTECTION: checkLinuxMalware },
			device,
			{
				thresholds: {
					...DEFAULT_THRESHOLDS,
					linux_malware_protection: chosen,
				},
			},
		);
		const result = results.find(
			({ check_key }) => check_key === "MALWARE_PROTECTION",
		);
		expect(result?.evidence.threshold).toEqual({
			linux_malware_protection: chosen,
		});
		return (
			result && { ...result, ...explain({ platform: "LINUX", ...result }) }
		);
	};
	expect(await judge("MANDATORY_ACCESS_CONTROL_COUNTS")).toMatchObject({
		status: "PASS",
	});
	expect(await judge("SCANNER_REQUIRED")).toMatchObject({
		status: "FAIL",
		reason: "no scanner runs, and your organization requires one",
		remediation: expect.stringContaining("AppArmor and SELinux are not enough"),
	});
});

test("only a verdict names a threshold, and only one that the check used", async () => {
	const results = await runChecks(
		{
			SCREEN_LOCK: async (device) => {
				device.threshold("max_lock_delay_seconds");
				return unknown("no_user_session");
			},
			PASSWORD_POLICY: async (device) =>
				pass({ needed: device.threshold("min_password_length") }),
			TIME_SYNC: async () => pass({}),
		},
		host,
		{ thresholds: { ...DEFAULT_THRESHOLDS, min_password_length: 20 } },
	);
	const evidence = Object.fromEntries(
		results.map((result) => [result.check_key, result.evidence]),
	);
	expect(evidence).toMatchObject({
		SCREEN_LOCK: { reason: "no_user_session" },
		PASSWORD_POLICY: { needed: 20, threshold: { min_password_length: 20 } },
		TIME_SYNC: {},
	});
	expect(evidence.SCREEN_LOCK).not.toHaveProperty("threshold");
	expect(evidence.TIME_SYNC).not.toHaveProperty("threshold");
});
