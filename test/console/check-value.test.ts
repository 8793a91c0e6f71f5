import { expect, test } from "vitest";
import { checkValue } from "../../console/src/pages/devices/check-value.ts";
import { formatDay } from "../../console/src/parts/days.ts";

test.each([
	["SCREEN_LOCK", "PASS", { idle_seconds: 300 }, "after 5 min"],
	["SCREEN_LOCK", "FAIL", { lock_enabled: false }, "Off"],
	["PASSWORD_POLICY", "PASS", { minimum_length: 8 }, "8 characters"],
	[
		"PASSWORD_POLICY",
		"FAIL",
		{ minimum_length: 12, empty_passwords: 1 },
		"Empty password",
	],
	[
		"PASSWORD_POLICY",
		"FAIL",
		{ minimum_length: 12, enforced: false },
		"Not enforced",
	],
	["FIREWALL_ENABLED", "PASS", {}, "On"],
	["FIREWALL_ENABLED", "FAIL", { engine: "none", ipv4_filtered: false }, "Off"],
	["FIREWALL_ENABLED", "FAIL", { enabled: false }, "Off"],
	[
		"FIREWALL_ENABLED",
		"FAIL",
		{ engine: "ufw", ipv4_filtered: false, open_packets: ["tcp_1009"] },
		"Open",
	],
	[
		"FIREWALL_ENABLED",
		"FAIL",
		{ engine: "none", ipv4_filtered: true, ipv6_filtered: false },
		"Open",
	],
	["FIREWALL_ENABLED", "FAIL", { open_zone: "trusted" }, "Open"],
	[
		"FIREWALL_ENABLED",
		"FAIL",
		{
			domain_profile_enabled: true,
			private_profile_enabled: false,
			inbound_allowed_by_default: false,
		},
		"In part",
	],
	["AUTO_UPDATE", "FAIL", { mechanism: "none" }, "Off"],
	["AUTO_UPDATE", "FAIL", { patches_current: false }, "Overdue"],
	[
		"OS_VERSION",
		"PASS",
		{ supported_until: "2029-05-31" },
		`until ${formatDay("2029-05-31")}`,
	],
	["AUTO_UPDATE", "FAIL", { paused_until: "2026-12-05" }, "Paused"],
	["AUTO_UPDATE", "FAIL", { paused_by: "group_policy" }, "Paused"],
	["DISK_ENCRYPTION", "PASS", {}, "Encrypted"],
	["DISK_ENCRYPTION", "FAIL", { root_encrypted: false }, "Not encrypted"],
	["DISK_ENCRYPTION", "FAIL", { root_encrypted: true }, "In part"],
	[
		"DISK_ENCRYPTION",
		"FAIL",
		{ conversion: "encrypted", protection_suspended: true },
		"Suspended",
	],
	["MALWARE_PROTECTION", "PASS", { signature_age_days: 1 }, "1 day old"],
	[
		"MALWARE_PROTECTION",
		"FAIL",
		{ signature_age_days: 1, real_time_protection: false },
		"Off",
	],
	[
		"MALWARE_PROTECTION",
		"FAIL",
		{ definitions_age_days: 61, definitions_current: false },
		"61 days old",
	],
	[
		"MALWARE_PROTECTION",
		"FAIL",
		{ definitions_age_days: 3, gatekeeper: false },
		"Off",
	],
	["MALWARE_PROTECTION", "FAIL", { signatures_outdated: true }, "Out of date"],
	["MALWARE_PROTECTION", "UNKNOWN", { reason: "needs_root" }, undefined],
] as const)("the value of a %s with %s and %j is %s", (check_key, status, evidence, expected) => {
	expect(checkValue({ check_key, status, evidence }, "LINUX")).toBe(expected);
});
