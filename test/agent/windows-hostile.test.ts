import { describe, expect, test } from "vitest";
import { runChecks } from "../../agent/checks/run-checks.ts";
import { WINDOWS_CHECKS } from "../../agent/checks/windows/all.ts";
import { AUTO_UPDATE_SCRIPT } from "../../agent/checks/windows/auto-update.ts";
import { DISK_ENCRYPTION_SCRIPT } from "../../agent/checks/windows/disk-encryption.ts";
import { FIREWALL_SCRIPT } from "../../agent/checks/windows/firewall.ts";
import { MALWARE_PROTECTION_SCRIPT } from "../../agent/checks/windows/malware-protection.ts";
import { OS_VERSION_SCRIPT } from "../../agent/checks/windows/os-version.ts";
import { PASSWORD_POLICY_SCRIPT } from "../../agent/checks/windows/password-policy.ts";
import { powershellArgs } from "../../agent/checks/windows/powershell.ts";
import { REMOTE_LOGIN_SCRIPT } from "../../agent/checks/windows/remote-login.ts";
import { SCREEN_LOCK_SCRIPT } from "../../agent/checks/windows/screen-lock.ts";
import { TIME_SYNC_SCRIPT } from "../../agent/checks/windows/time-sync.ts";
import { FACTS_SCRIPT, findFacts } from "../../agent/facts/windows.ts";
import type { CommandResult } from "../../agent/host.ts";
import { recordedHost } from "./recorded-host.ts";

const SCRIPTS = {
	AUTO_UPDATE_SCRIPT,
	DISK_ENCRYPTION_SCRIPT,
	FACTS_SCRIPT,
	FIREWALL_SCRIPT,
	MALWARE_PROTECTION_SCRIPT,
	OS_VERSION_SCRIPT,
	PASSWORD_POLICY_SCRIPT,
	REMOTE_LOGIN_SCRIPT,
	SCREEN_LOCK_SCRIPT,
	TIME_SYNC_SCRIPT,
};

/** Makes a Windows device on which every command gives the same answer. */
const sayingHost = (said: string | Partial<CommandResult>) =>
	recordedHost({
		platform: "WINDOWS",
		commands: Object.fromEntries([
			...Object.values(SCRIPTS).map((script) => [
				["powershell.exe", ...powershellArgs(script)].join(" "),
				said,
			]),
			["sshd -T", said],
			["sshd -G", said],
		]),
	});

/**
 * Returns an object with an unexpected value under every name that a script gives its parts and
 * values.
 */
const fields = (value: unknown) => {
	const names = Object.values(SCRIPTS)
		.join("\n")
		.matchAll(/(?<=[\s{;])([A-Za-z]+) = /g);
	return Object.fromEntries([...names].map(([, name]) => [name, value]));
};
const marked = {
	...fields("S3CRET"),
	name: "S3CRET",
	UUID: "S3CRET",
	DriveLetter: "C:",
	AMRunningMode: "S3CRET",
	edition: "S3CRET edition",
	SerialNumber: "S3CRET\u0000",
};

const HOSTILE: [string, string | Partial<CommandResult>][] = [
	["nothing", ""],
	["a sentence", "Zugriff verweigert. S3CRET"],
	["an array", '["S3CRET"]'],
	["a number", "4"],
	["an empty object", "{}"],
	["broken JSON", '{"volumes":{"values":[{"DriveLetter":"S3CRET'],
	["control characters", "\u0000\u001b[2J{}S3CRET\u0007"],
	["binary", Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d]).toString("latin1")],
	["a megabyte", `{"volumes":"${"S3CRET".repeat(170_000)}"}`],
	["deep nesting", `${'{"volumes":'.repeat(5_000)}1${"}".repeat(5_000)}`],
	["words where numbers belong", JSON.stringify(fields("S3CRET"))],
	["words in every part", JSON.stringify(fields({ values: ["S3CRET"] }))],
	[
		"objects of words in every part",
		JSON.stringify(fields({ values: [marked, marked] })),
	],
	["a list that was wrapped", JSON.stringify(fields({ values: { value: 7 } }))],
	["errors of its own", JSON.stringify(fields({ error: "S3CRET" }))],
	["nulls", JSON.stringify(fields(null))],
	["numbers beyond all bounds", JSON.stringify(fields(1e308))],
	["names of JavaScript", '{"__proto__":{"values":1},"constructor":"S3CRET"}'],
	["a failure", { exitCode: 1, stdout: "S3CRET", stderr: "S3CRET" }],
	["no PowerShell", { ended: "missing" }],
	["no permission", { ended: "denied", stderr: "S3CRET" }],
	["no end", { ended: "timed_out", stdout: '{"installation":' }],
];

describe("unexpected output of Windows", () => {
	test.each(HOSTILE)("%s: no check passes or quotes it", async (_, said) => {
		const crashed: string[] = [];
		const results = await runChecks(WINDOWS_CHECKS, sayingHost(said), {
			onCrash: (check) => crashed.push(check),
		});
		expect(crashed).toEqual([]);
		const checked = results.filter(
			({ check_key }) => check_key in WINDOWS_CHECKS,
		);
		expect(checked).toHaveLength(Object.keys(WINDOWS_CHECKS).length);
		for (const { status, evidence } of checked) {
			expect(status).toBe("UNKNOWN");
			expect(evidence.reason).toMatch(/^[a-z_]+$/);
			const json = JSON.stringify(evidence);
			expect(json).not.toContain("S3CRET");
			expect(json.length).toBeLessThan(4096);
		}
	});

	test.each(HOSTILE)("%s: the facts are bounded", async (_, said) => {
		const facts = await findFacts(sayingHost(said));
		expect(facts.hardware_uuid).toBeUndefined();
		expect(facts.os_version).toMatch(/^[\w .()]{1,200}$/);
		expect(JSON.stringify(facts).length).toBeLessThan(500);
	});
});

describe("the scripts", () => {
	test.each(
		Object.entries(SCRIPTS),
	)("%s fits into a command line", (_, script) => {
		const [, , , , text = ""] = powershellArgs(script);
		// Windows accepts 32,767 characters in a command line. Characters outside ASCII could be
		// changed on the way.
		expect(text.length).toBeLessThan(8_000);
		expect(text).toMatch(/^[\x20-\x7e\n]+$/);
		expect(text).toMatch(/\} \| ConvertTo-Json -Compress -Depth 5$/);
		expect(unbalanced(text)).toEqual([]);
	});
});

/** Returns the brackets that have no partner. Text in quotes is ignored. */
function unbalanced(script: string): string[] {
	const closes: Record<string, string> = { "{": "}", "(": ")", "[": "]" };
	const open: string[] = [];
	const code = script.replace(/'(?:[^']|'')*'|"[^"]*"/g, "");
	expect(code).not.toMatch(/['"]/);
	for (const character of code.replace(/[^{}()[\]]/g, "")) {
		if (closes[character]) open.push(closes[character]);
		else if (open.pop() !== character) return [character];
	}
	return open;
}
