import { describe, expect, test } from "vitest";
import { makeLog } from "../../agent/log.ts";
import { runChecksHere } from "../../agent/session.ts";
import { explain } from "../../src/devices/remediation/remediation.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import { makeAgentFolder } from "./folders.ts";
import { recordedHost } from "./recorded-host.ts";
import { GOOD_MAC, LAST_SEARCH, UPDATES } from "./recordings/macos.ts";

const LIST = `plutil -extract RecommendedUpdates json -o - ${UPDATES}`;

const update = (key: string, title: string) => ({
	Identifier: key,
	"Product Key": key,
	"Display Name": title,
	MobileSoftwareUpdate: true,
});
const SMALL = update(
	"MSU_UPDATE_24D70_patch_15.3.1_minor",
	"macOS Sequoia 15.3.1",
);
const NEXT = update("MSU_UPDATE_24E248_patch_15.4_minor", "macOS Sequoia 15.4");
const UPGRADE = update("MSU_UPDATE_25A354_full_26.0_major", "macOS Tahoe 26");
const SAFARI = update("082-12345", "Safari");
const TOOLS = update(
	"Command Line Tools for Xcode-16.2",
	"Command Line Tools for Xcode",
);

/** Checks a Mac that searched for updates an hour ago, with its notes in `folder`. */
async function checkOn(
	folder: string,
	day: string,
	updates: object[],
	build = "24D60",
) {
	const now = `${day}T12:00:00Z`;
	const host = recordedHost({
		...GOOD_MAC,
		now,
		commands: {
			...GOOD_MAC.commands,
			[LAST_SEARCH]: `${day}T11:00:00Z\n`,
			[LIST]:
				updates.length > 0
					? JSON.stringify(updates)
					: { exitCode: 1, stdout: "" },
			"sw_vers -buildVersion": `${build}\n`,
		},
	});
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

describe("updates of macOS that wait", () => {
	test("a Mac that searches but never installs fails, although each update replaces the one before", async () => {
		const folder = await makeAgentFolder();
		expect(await checkOn(folder, "2026-01-01", [SMALL])).toMatchObject({
			status: "PASS",
			evidence: { pending_update_days: 0 },
		});
		expect(await checkOn(folder, "2026-02-10", [NEXT])).toMatchObject({
			status: "PASS",
			evidence: { pending_update_days: 40 },
		});
		const late = await checkOn(folder, "2026-03-03", [NEXT]);
		expect(late).toMatchObject({
			status: "FAIL",
			evidence: { pending_update_days: 61, overdue: "pending_update_days" },
		});
		expect(late && explain({ platform: "DARWIN", ...late })).toMatchObject({
			reason:
				"an available update has waited for 61 days; at most 60 days are allowed",
			remediation: expect.stringContaining("install the update and restart"),
		});
	});

	test("a Mac that installs its updates begins again with each, even if another waits at once", async () => {
		const folder = await makeAgentFolder();
		await checkOn(folder, "2026-01-01", [SMALL]);
		expect(await checkOn(folder, "2026-03-03", [NEXT], "24D70")).toMatchObject({
			status: "PASS",
			evidence: { pending_update_days: 0 },
		});
	});

	test("an upgrade to the next macOS and developer tools may wait", async () => {
		const folder = await makeAgentFolder();
		await checkOn(folder, "2026-01-01", [UPGRADE, TOOLS]);
		const result = await checkOn(folder, "2026-06-01", [UPGRADE, TOOLS]);
		expect(result?.status).toBe("PASS");
		expect(result?.evidence).not.toHaveProperty("pending_update_days");
	});

	test("an update of Safari may not wait", async () => {
		const folder = await makeAgentFolder();
		await checkOn(folder, "2026-01-01", [SAFARI]);
		expect(await checkOn(folder, "2026-03-03", [SAFARI])).toMatchObject({
			status: "FAIL",
		});
	});

	test.each([
		["no list", "no list"],
		["an object", '{"a":1}'],
		["strange entries", '[null,1,"x",{}]'],
	])("%s instead of updates does not fail the check", async (_, text) => {
		const folder = await makeAgentFolder();
		const host = recordedHost({
			...GOOD_MAC,
			commands: { ...GOOD_MAC.commands, [LIST]: text },
		});
		const results = await runChecksHere(
			host,
			makeLog("error", () => {}),
			new AbortController().signal,
			DEFAULT_THRESHOLDS,
			folder,
			true,
		);
		const result = results.find(({ check_key }) => check_key === "AUTO_UPDATE");
		expect(result?.status).toBe("PASS");
	});
});
