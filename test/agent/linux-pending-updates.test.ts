import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { UPDATE_UNITS } from "../../agent/checks/linux/auto-update.ts";
import {
	APT,
	DNF,
	stampArgs,
} from "../../agent/checks/linux/pending-packages.ts";
import { makeLog } from "../../agent/log.ts";
import { runChecksHere } from "../../agent/session.ts";
import { explain } from "../../src/devices/remediation/remediation.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import { makeAgentFolder } from "./folders.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import {
	linux,
	MACHINE,
	OS_RELEASE,
	searchedOn,
	stampCommand,
	units,
} from "./recordings/linux.ts";

// The output of apt 2.6 on a Debian 12.
const OPENSSL =
	"Inst libssl3 [3.0.16-1~deb12u1] (3.0.17-1~deb12u2 Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64]) []\n";
const LZMA =
	"Inst liblzma5 [5.4.1-1] (5.4.1-1+deb12u2 Debian-Security:12/oldstable-security [amd64])\nConf liblzma5 (5.4.1-1+deb12u2 Debian-Security:12/oldstable-security [amd64])\n";
const NO_SECURITY =
	"Inst bash [5.2.15-2+b8] (5.2.15-2+b13 Debian:12.15/oldstable [amd64])\nInst linux-image-6.1.0-60-amd64 (6.1.170-1 Debian-Security:12/oldstable-security [amd64])\n";

const APT_COMMAND = APT.command.join(" ");
const DNF_COMMAND = DNF.command.join(" ");
const stampOf = ({ stamps }: typeof APT, ...more: string[]) =>
	["stat", ...stampArgs([...stamps, ...more])].join(" ");

const DEBIAN: Partial<Recording> = {
	files: { ...MACHINE, "/etc/os-release": OS_RELEASE.debian },
	folders: { "/usr/bin": ["unattended-upgrade"] },
};
const DEBIAN_COMMANDS = {
	...units(UPDATE_UNITS, {
		"apt-daily.timer": "running",
		"apt-daily-upgrade.timer": "running",
	}),
	"apt-config dump":
		'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\nUnattended-Upgrade::Origins-Pattern:: "origin=Debian,codename=bookworm-security";\n',
};

/**
 * Checks a device with its notes in `folder`, on a day on which a search has just succeeded, at noon
 * or at another time of that day.
 */
async function checkOn(
	folder: string,
	day: string,
	commands: NonNullable<Recording["commands"]>,
	more: Partial<Recording> = DEBIAN,
	time = "12:00",
) {
	const now = `${day}T${time}:00Z`;
	const host = recordedHost(
		linux({
			...more,
			now,
			commands: {
				...DEBIAN_COMMANDS,
				...searchedOn([`${day}T11:00:00Z`]),
				...commands,
			},
		}),
	);
	const results = await runChecksHere(
		host,
		makeLog("error", () => {}),
		new AbortController().signal,
		DEFAULT_THRESHOLDS,
		folder,
		true,
	);
	return results.find(({ check_key }) => check_key === "AUTO_UPDATE");
}

describe("security updates that wait", () => {
	test("an update fails the check 61 days after the agent first saw it, also in another process", async () => {
		const folder = await makeAgentFolder();
		const waits = { [APT_COMMAND]: `${OPENSSL}${NO_SECURITY}` };
		expect(await checkOn(folder, "2026-01-01", waits)).toMatchObject({
			status: "PASS",
			evidence: { pending_updates: 1, pending_update_days: 0 },
		});
		expect(await checkOn(folder, "2026-03-02", waits)).toMatchObject({
			status: "PASS",
			evidence: { pending_update_days: 60 },
		});
		const late = await checkOn(folder, "2026-03-03", waits);
		expect(late).toMatchObject({
			status: "FAIL",
			evidence: {
				pending_update_days: 61,
				last_search_days: 0,
				overdue: "pending_update_days",
			},
		});
		expect(late && explain({ platform: "LINUX", ...late })).toMatchObject({
			reason:
				"an available update has waited for 61 days; at most 60 days are allowed",
			remediation: expect.stringContaining("apt-mark showhold"),
		});
	});

	test("an installed update is forgotten, and a newer one of the same package begins again", async () => {
		const folder = await makeAgentFolder();
		await checkOn(folder, "2026-01-01", { [APT_COMMAND]: OPENSSL });
		expect(
			await checkOn(folder, "2026-03-03", {
				[APT_COMMAND]: OPENSSL.replace("3.0.16-1~deb12u1", "3.0.17-1~deb12u2"),
			}),
		).toMatchObject({ status: "PASS", evidence: { pending_update_days: 0 } });
		expect(
			await checkOn(folder, "2026-03-04", { [APT_COMMAND]: NO_SECURITY }),
		).toMatchObject({ status: "PASS", evidence: { pending_updates: 0 } });
	});

	test("the oldest of several updates decides", async () => {
		const folder = await makeAgentFolder();
		await checkOn(folder, "2026-01-01", { [APT_COMMAND]: LZMA });
		expect(
			await checkOn(folder, "2026-02-01", {
				[APT_COMMAND]: `${OPENSSL}${LZMA}`,
			}),
		).toMatchObject({
			status: "PASS",
			evidence: { pending_updates: 2, pending_update_days: 31 },
		});
	});

	test("apt is asked again on the same day only after a search or an installation", async () => {
		const folder = await makeAgentFolder();
		const first = { [stampOf(APT)]: "1767000000\n1767000001\n" };
		await checkOn(folder, "2026-01-01", { ...first, [APT_COMMAND]: OPENSSL });
		// The same stamp: apt, which is not in this recording, is not needed.
		expect(
			await checkOn(folder, "2026-01-01", first, DEBIAN, "13:00"),
		).toMatchObject({ evidence: { pending_updates: 1 } });
		const second = {
			[stampOf(APT)]: "1768000000\n1767000001\n",
			[APT_COMMAND]: "",
		};
		expect(
			await checkOn(folder, "2026-01-01", second, DEBIAN, "14:00"),
		).toMatchObject({ evidence: { pending_updates: 0 } });
	});

	test("apt is asked again each day, even if no file has changed", async () => {
		const folder = await makeAgentFolder();
		const same = { [stampOf(APT)]: "1767000000\n1767000001\n" };
		await checkOn(folder, "2026-01-01", { ...same, [APT_COMMAND]: "" });
		expect(
			await checkOn(folder, "2026-01-02", { ...same, [APT_COMMAND]: OPENSSL }),
		).toMatchObject({ evidence: { pending_updates: 1 } });
	});

	test("dnf 5 is asked again when only the metadata of one source is newer", async () => {
		const folder = await makeAgentFolder();
		const metadata = "/var/cache/libdnf5/updates-0123456789abcdef/repodata";
		const fedora = {
			files: {
				...MACHINE,
				"/etc/os-release": OS_RELEASE.fedora,
				[`${metadata}/repomd.xml`]: "",
			},
		};
		// dnf 5 leaves the time of its top folder, and a search installs nothing.
		const unchanged = "1767000000\n1767000001\n";
		const commands = (searched: number, advisories: string) => ({
			...units(UPDATE_UNITS, { "dnf-automatic-install.timer": "running" }),
			[stampOf(DNF)]: unchanged,
			[stampOf(DNF, `${metadata}/repomd.xml`)]: `${unchanged}${searched}\n`,
			[stampCommand("dnf-automatic", `${metadata}/repomd.xml`)]:
				`${searched}\n`,
			[DNF_COMMAND]: advisories,
		});
		const day = "2026-01-01";
		const at = Date.parse(day) / 1000;
		expect(await checkOn(folder, day, commands(at, ""), fedora)).toMatchObject({
			status: "PASS",
			evidence: { pending_updates: 0 },
		});
		const later = commands(
			at + 3600,
			"FEDORA-2026-1a2b3c security Important openssl-libs-3.2.2-1.fc43.x86_64 2026-01-01 01:23:45\n",
		);
		expect(await checkOn(folder, day, later, fedora, "18:00")).toMatchObject({
			status: "PASS",
			evidence: { pending_updates: 1 },
		});
	});

	test("without an answer of apt, only the search counts, and nothing is forgotten", async () => {
		const folder = await makeAgentFolder();
		await checkOn(folder, "2026-01-01", { [APT_COMMAND]: OPENSSL });
		for (const answer of [
			{ exitCode: 100, stdout: "" },
			{ ended: "timed_out" as const },
		]) {
			const result = await checkOn(folder, "2026-03-03", {
				[APT_COMMAND]: answer,
			});
			expect(result?.status).toBe("PASS");
			expect(result?.evidence).not.toHaveProperty("pending_updates");
		}
		expect(
			await checkOn(folder, "2026-03-04", { [APT_COMMAND]: OPENSSL }),
		).toMatchObject({ status: "FAIL" });
	});

	test("without a folder for its notes, the agent says nothing about updates that wait", async () => {
		const result = await checkOn("/does/not/exist", "2026-01-01", {
			[APT_COMMAND]: OPENSSL,
		});
		expect(result?.status).toBe("PASS");
		expect(result?.evidence).not.toHaveProperty("pending_updates");
	});

	test.each([
		[
			"dnf 4",
			"FEDORA-2026-1a2b3c Important/Sec. openssl-libs-3.2.2-1.fc40.x86_64",
		],
		[
			"dnf 5",
			"FEDORA-2026-1a2b3c security  Important openssl-libs-3.2.2-1.fc41.x86_64 2026-01-01 01:23:45",
		],
	])("%s lists advisories without the network", async (_, line) => {
		const folder = await makeAgentFolder();
		const fedora = {
			files: { ...MACHINE, "/etc/os-release": OS_RELEASE.fedora },
		};
		const commands = {
			...units(UPDATE_UNITS, { "dnf-automatic-install.timer": "running" }),
			[DNF_COMMAND]: `Name Type Severity Package Issued\n${line}\nFEDORA-2026-77 bugfix None bash-5.2-1.fc41.x86_64 2026-01-01 01:23:45\n`,
		};
		await checkOn(folder, "2026-01-01", commands, fedora);
		expect(await checkOn(folder, "2026-03-03", commands, fedora)).toMatchObject(
			{
				status: "FAIL",
				evidence: { pending_updates: 1, pending_update_days: 61 },
			},
		);
	});

	test.each([
		["no JSON", "{"],
		["another shape", '{"updates":[1,2]}'],
		["wrong times", '{"updates":{"libssl3 3.0.16-1~deb12u1":"soon"}}'],
		[
			"a time in the future",
			'{"updates":{"libssl3 3.0.16-1~deb12u1":"2031-01-01T00:00:00Z"}}',
		],
	])("notes with %s do not crash the check", async (_, text) => {
		const folder = await makeAgentFolder();
		await writeFile(join(folder, "pending-updates.json"), text);
		expect(
			await checkOn(folder, "2026-01-01", { [APT_COMMAND]: OPENSSL }),
		).toMatchObject({
			status: "PASS",
			evidence: { pending_updates: 1, pending_update_days: 0 },
		});
	});
});
