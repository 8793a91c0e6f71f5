import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { loadChecks } from "../../agent/checks/run-checks.ts";
import { FAILURES } from "../../src/devices/remediation/failures/all.ts";
import { PARTICULAR_FIXES } from "../../src/devices/remediation/particular-fixes.ts";
import type { ReasonText } from "../../src/devices/remediation/reason-text.ts";
import { REASONS } from "../../src/devices/remediation/reasons.ts";
import { explain } from "../../src/devices/remediation/remediation.ts";
import {
	CHECK_KEYS,
	type CheckKey,
	PLATFORMS,
	type Platform,
} from "../../src/devices/terms.ts";
import { fileOfCheck } from "../agent/check-files.ts";

const AGENT = join(import.meta.dirname, "../../agent");

/** The code that a file consists of, with all the code that it imports from the agent. */
function codeOf(path: string, seen = new Set<string>()): string {
	if (seen.has(path)) return "";
	seen.add(path);
	const text = readFileSync(path, "utf8");
	const imports = text.matchAll(/^(?:import|\} from) ?.*?"(\.[^"]+)";$/gm);
	const others = [...imports]
		.map(([, to]) => join(dirname(path), to as string))
		.filter((to) => to.startsWith(AGENT));
	return [text, ...others.map((to) => codeOf(to, seen))].join("\n");
}

/** The code of a check, and of everything around the checks that gives a reason too. */
const around = ["run-checks.ts", "in-child.ts"]
	.map((name) => readFileSync(join(AGENT, "checks", name), "utf8"))
	.join("\n");

const codeOfCheck = (platform: Platform, check: CheckKey): string =>
	codeOf(fileOfCheck(check, platform)) + around;

/** Every check of the agent, with its platform. */
const CHECKS = (
	await Promise.all(
		PLATFORMS.map(async (platform) =>
			Object.keys(await loadChecks(platform)).map((check) => ({
				platform,
				check: check as CheckKey,
			})),
		),
	)
).flat();

/** Every check with advice of its own, and the advice. */
const ADVICE = PLATFORMS.flatMap((platform) =>
	Object.entries(FAILURES[platform]).map(([check, fixes]) => ({
		platform,
		check: check as CheckKey,
		fixes,
	})),
);

const triples = CHECKS.flatMap(({ platform, check }) => {
	const code = codeOfCheck(platform, check);
	return Object.keys(REASONS)
		.filter((reason) => code.includes(`"${reason}"`))
		.map((reason) => ({ platform, check, reason }));
});

test("advice is only for checks that the agent has on the platform", () => {
	expect(ADVICE.length).toBeGreaterThan(30);
	for (const { platform, check } of ADVICE) {
		expect(CHECKS).toContainEqual({ platform, check });
	}
});

test("for a check without advice of its own, the advice is what a pass means", () => {
	const { DISK_ENCRYPTION: own, ...others } = FAILURES.LINUX;
	const before = FAILURES.LINUX;
	FAILURES.LINUX = others;
	const { remediation } = explain({
		platform: "LINUX",
		check_key: "DISK_ENCRYPTION",
		status: "FAIL",
	});
	FAILURES.LINUX = before;
	expect(own).toBeDefined();
	expect(remediation).toBe(
		"Change the device so that this is true: The disk is encrypted, so a lost or stolen device gives away no data.",
	);
});

test("every reason that a check can give has a text, and each reason for UNKNOWN says what to do", () => {
	expect(triples.length).toBeGreaterThan(300);
	for (const { platform, check, reason } of triples) {
		const { reason: says, remediation } = explain({
			platform,
			check_key: check,
			status: "UNKNOWN",
			evidence: { reason },
		});
		expect(says, `${platform} ${check} ${reason}`).toBeTruthy();
		expect(remediation, `${platform} ${check} ${reason}`).toBeTruthy();
	}
});

test("a reason without advice is one for NOT_APPLICABLE", () => {
	const code = CHECKS.map(({ platform, check }) =>
		codeOfCheck(platform, check),
	).join("\n");
	const without = Object.entries<ReasonText>(REASONS).filter(
		([, text]) => text.fix === undefined,
	);
	expect(without.length).toBeGreaterThan(3);
	for (const [reason] of without) {
		expect(code).not.toContain(`unknown("${reason}"`);
	}
});

test("every text belongs to a reason that the agent can give", () => {
	const agent = codeOf(join(AGENT, "session.ts"));
	const given = new Set<string>(triples.map(({ reason }) => reason));
	expect(
		Object.keys(REASONS).filter(
			(reason) => !given.has(reason) && !agent.includes(`"${reason}"`),
		),
	).toEqual([]);
	const keys = triples.map(
		({ platform, check, reason }) => `${platform} ${check} ${reason}`,
	);
	expect(keys).toEqual(expect.arrayContaining(Object.keys(PARTICULAR_FIXES)));
});

test("every cause of a failure is a field of the evidence of that check", () => {
	let causes = 0;
	for (const { platform, check, fixes } of ADVICE) {
		const code = codeOfCheck(platform, check);
		for (const { when } of fixes) {
			if (!when) continue;
			causes++;
			// Linux makes the names `root_encrypted` and `swap_encrypted` from the volumes' names.
			const made = when.field.replace(/^(root|swap)_/, "_");
			expect(code, `${platform} ${check} ${when.field}`).toMatch(
				new RegExp(`\\b${when.field}\\b|\\}${made}\``),
			);
		}
	}
	expect(causes).toBeGreaterThan(20);
});

test("the last advice for a failure has no cause, and no two are the same", () => {
	for (const { fixes } of ADVICE) {
		expect(fixes.map(({ when }) => when === undefined)).toEqual(
			fixes.map((_, index) => index === fixes.length - 1),
		);
		expect(new Set(fixes.map(({ fix }) => fix)).size).toBe(fixes.length);
	}
});

test.each(
	PLATFORMS.flatMap((platform) =>
		CHECK_KEYS.map((check) => [platform, check] as const),
	),
)("a %s %s of another agent has advice, whether it fails or is unknown", (platform, check) => {
	for (const status of ["FAIL", "UNKNOWN"]) {
		for (const evidence of [null, {}, { reason: "no_such_reason" }]) {
			const { remediation } = explain({
				platform,
				check_key: check,
				status,
				evidence,
			});
			expect(remediation).toMatch(/^[A-Z].{20,}\S$/s);
		}
	}
	for (const status of ["PASS", "NOT_APPLICABLE"]) {
		const told = explain({ platform, check_key: check, status, evidence: {} });
		expect(told.remediation).toBeUndefined();
	}
});

test("a check that Assay does not know has no advice", () => {
	const result = { platform: "LINUX", check_key: "NICE_HAT", status: "FAIL" };
	expect(explain(result)).toEqual({});
	expect(explain({ ...result, platform: null })).toEqual({});
});

test("advice fits the cause that the evidence shows", () => {
	const about = (evidence: Record<string, unknown>) =>
		explain({
			platform: "WINDOWS",
			check_key: "DISK_ENCRYPTION",
			status: "FAIL",
			evidence,
		});
	expect(about({ protection_suspended: true })).toEqual({
		reason: "the protection is suspended",
		remediation: expect.stringContaining("Resume protection"),
	});
	expect(about({}).remediation).toContain("Device encryption");
});

test("no advice begins by repeating the reason", () => {
	const wordsOf = (text: string): string[] =>
		text.toLowerCase().match(/[a-z]{4,}/g) ?? [];
	for (const { platform, check, fixes } of ADVICE) {
		for (const { when } of fixes) {
			const evidence = when ? { [when.field]: when.is ?? ["swap"] } : {};
			const { reason = "", remediation = "" } = explain({
				...{ platform, check_key: check, status: "FAIL", evidence },
			});
			const first = wordsOf(remediation.split(/\.(?:\s|$)/)[0] ?? "");
			const given = wordsOf(reason);
			const repeated = first.filter((word) => given.includes(word));
			const label = `${platform} ${check}: ${reason} / ${remediation}`;
			expect(repeated.length / first.length, label).toBeLessThan(0.7);
		}
	}
});

test("advice about the clock of a server opens no settings of a desktop", () => {
	const clock = {
		...{ platform: "LINUX", check_key: "TIME_SYNC", status: "FAIL" },
		evidence: { service: "none" },
	};
	const lock = { check_key: "SCREEN_LOCK", evidence: { reason: "no_desktop" } };
	const onServer = explain(clock, [clock, lock]).remediation;
	expect(onServer).not.toContain("Settings");
	expect(onServer).toContain("timedatectl set-ntp true");
	for (const others of [[], [clock, { ...lock, evidence: null }]]) {
		expect(explain(clock, others).remediation).toContain("Settings");
	}
});

test.each([
	[
		"PASSWORD_POLICY",
		{ minimum_length: 6 },
		"the minimum length is 6; at least 8 is required",
	],
	[
		"PASSWORD_POLICY",
		{ minimum_length: 10, threshold: { min_password_length: 12 } },
		"the minimum length is 10; at least 12 is required",
	],
	[
		"PASSWORD_POLICY",
		{ minimum_length: 10 },
		"the minimum length of 10 is not enforced",
	],
	[
		"SCREEN_LOCK",
		{ lock_enabled: true, idle_seconds: 900, lock_delay_seconds: 300 },
		"the screen locks after 20 min; at most 15 min are allowed",
	],
	[
		"MALWARE_PROTECTION",
		{ signature_age_days: 23, signatures_current: false },
		"the definitions are 23 days old; at most 7 are allowed",
	],
	["REMOTE_LOGIN", { open_services: ["vnc"] }, "open to the network: vnc"],
	[
		"REMOTE_LOGIN",
		{ password_authentication: false, root_login: "yes" },
		"SSH lets root sign in",
	],
	[
		"SCREEN_LOCK",
		{ lock_enabled: true, screen_saver_seconds: 0, display_off_seconds: 0 },
		"the screen never locks; it must lock within 15 min",
	],
	[
		"SCREEN_LOCK",
		{ lock_enabled: true, idle_seconds: 900, lock_delay_seconds: 1 },
		"the screen locks after 901 s; at most 900 s are allowed",
	],
	[
		"PASSWORD_POLICY",
		{ quality_module: "pam_passwdqc", enforced: false },
		"the rule for passwords is not enforced",
	],
	["MALWARE_PROTECTION", { gatekeeper: false }, "Gatekeeper is off"],
	[
		"MALWARE_PROTECTION",
		{
			gatekeeper: true,
			definitions_current: false,
			definitions_age_days: 70,
			threshold: { max_patch_age_days: 30 },
		},
		"the definitions are 70 days old; at most 30 are allowed",
	],
	[
		"MALWARE_PROTECTION",
		{ scanners: [], signatures_outdated: true },
		"the definitions are older than 7 days",
	],
	[
		"REMOTE_LOGIN",
		{ remote_desktop: true, network_level_authentication: false },
		"remote desktop is on without network-level authentication",
	],
	[
		"REMOTE_LOGIN",
		{
			powershell_remoting: true,
			basic_authentication: true,
			unencrypted_allowed: true,
		},
		"PowerShell remoting accepts unencrypted passwords",
	],
	[
		"MALWARE_PROTECTION",
		{ gatekeeper: true, system_integrity_protection: false },
		"System Integrity Protection is off",
	],
	[
		"MALWARE_PROTECTION",
		{ scanners: [], scanner_unused: true },
		"the scanner runs, but nothing gives it files to scan",
	],
	[
		"DISK_ENCRYPTION",
		{ engine: "bitlocker", conversion: "encrypting" },
		"the disk is not fully encrypted yet",
	],
	[
		"FIREWALL_ENABLED",
		{
			engine: "nftables",
			ipv4_filtered: false,
			ipv6_filtered: false,
			open_packets: ["tcp_1009"],
		},
		"the firewall lets in what it should block",
	],
	[
		"FIREWALL_ENABLED",
		{ ipv4_filtered: false, open_interfaces: ["eth1", "other"] },
		"new connections get in through eth1, other",
	],
	[
		"AUTO_UPDATE",
		{ patches_current: false, pending_update_days: 3, last_search_days: 90 },
		"no search for updates has succeeded for 90 days; at most 60 days are allowed",
	],
])("a failing %s says why: %s", (check_key, evidence, reason) => {
	expect(
		explain({ platform: "LINUX", check_key, status: "FAIL", evidence }).reason,
	).toBe(reason);
});

test.each([
	[[true, false, true], true, "the firewall is off in private networks"],
	[
		[true, false, false],
		true,
		"the firewall is off in private and public networks",
	],
	[[false, false, false], true, "the firewall is off"],
	[[true, true, true], false, "the firewall is off"],
])("the profiles %j of the Windows firewall, service runs: %s: %s", ([
	domain,
	isPrivate,
	isPublic,
], runs, reason) => {
	const evidence = {
		engine: "windows_firewall",
		domain_profile_enabled: domain,
		private_profile_enabled: isPrivate,
		public_profile_enabled: isPublic,
		inbound_allowed_by_default: false,
		...(!runs && { service_running: false }),
	};
	const check_key = "FIREWALL_ENABLED";
	expect(
		explain({ platform: "WINDOWS", check_key, status: "FAIL", evidence })
			.reason,
	).toBe(reason);
});
