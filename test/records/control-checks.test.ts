import { afterAll, beforeAll, expect, test } from "vitest";
import { postureResult } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { countChecksNow } from "../support/upkeep.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await shareTools();
	({ organizationId: organization_id } = assay);
});
afterAll(() => assay.close());

const framework = async (name: string, version?: string): Promise<string> =>
	(await assay.use("addFramework", { organization_id, name, version }))
		.framework.id;

/** Adds a control and returns it with the checks that test it. */
const control = async (
	framework_id: string,
	section_title: string,
	more: Json = {},
): Promise<Json> =>
	(
		await assay.use("addControl", {
			...{ organization_id, framework_id, section_title, name: "Control" },
			...more,
		})
	).control;

const NONE: string[] = [];

test.each([
	["ISO/IEC 27001:2022", "A.8.24", ["DISK_ENCRYPTION"]],
	["ISO 27001", "8.17", ["TIME_SYNC"]],
	[
		"ISO 27001",
		"A.8.1",
		["DISK_ENCRYPTION", "FIREWALL_ENABLED", "OS_VERSION", "SCREEN_LOCK"],
	],
	["ISO 27001", "A.8.11", NONE],
	["ISO 27001", "A.5.8.1", NONE],
	["ISO 27001:2013", "A.8.1", NONE],
	["SOC 2 Type II", "CC7.1", ["AUTO_UPDATE", "OS_VERSION"]],
	["SOC2", "CC6.8", ["MALWARE_PROTECTION"]],
	["NIST CSF 2.0", "PR.DS-01", ["DISK_ENCRYPTION"]],
	["NIST Cybersecurity Framework", "PR.PS-05:", ["MALWARE_PROTECTION"]],
	["CIS Controls v8", "10.1", ["MALWARE_PROTECTION"]],
	["CIS Controls v8", "2.2", ["OS_VERSION"]],
	["CIS Controls v7.1", "10.1", NONE],
	["Decision register", "10.1", NONE],
	["Our own policy", "A.8.24", NONE],
])("in %s, the control %s is tested by its checks", async (name, section, checks) => {
	const id = await framework(name);
	expect((await control(id, section)).checks).toEqual(checks);
	const named = { name: `${section} Control` };
	expect((await control(id, "Technology", named)).checks).toEqual(checks);
});

test("the version of a framework tells its edition, too", async () => {
	const id = await framework("ISO 27001", "2013");
	expect((await control(id, "A.8.24")).checks).toEqual([]);
});

test("people choose the checks of a control, choose none, or leave it to the number", async () => {
	const id = await framework("ISO 27001:2022");
	const tested_by_checks = ["screen or idle lock", "FIREWALL_ENABLED"];
	const added = await control(id, "A.8.24", { tested_by_checks });
	expect(added.tested_by_checks).toEqual(["FIREWALL_ENABLED", "SCREEN_LOCK"]);
	expect(added.checks).toEqual(["FIREWALL_ENABLED", "SCREEN_LOCK"]);
	const update = async (checks: string[] | null) =>
		(
			await assay.use("updateControl", {
				id: added.id,
				tested_by_checks: checks,
			})
		).control.checks;
	expect(await update([])).toEqual([]);
	expect(await update(null)).toEqual(["DISK_ENCRYPTION"]);
	const own = await assay.activateDevice();
	const results = [postureResult({ check_key: "Own_Check" })];
	await assay.post("postures", { results }, { key: own.key });
	expect(await update(["Own_Check"])).toEqual(["Own_Check"]);
	const wrong = await assay.call("updateControl", {
		id: added.id,
		tested_by_checks: ["DISC_ENCRYPTION"],
	});
	expect(wrong.status).toBe(400);
	expect(wrong.body.message).toMatch(/tested_by_checks.*DISK_ENCRYPTION/s);
});

test("the coverage of a framework has the checks of each control and their last results", async () => {
	const device = await assay.activateDevice();
	const results = [postureResult({ check_key: "DISK_ENCRYPTION" })];
	await assay.post("postures", { results }, { key: device.key });
	await countChecksNow(assay.database.pool, organization_id);
	const id = await framework("ISO 27001:2022");
	const own = ["TIME_SYNC"];
	await control(id, "A.8.24");
	await control(id, "A.5.1");
	await control(id, "A.5.2", { tested_by_checks: own });
	const found = await assay.use("getFrameworkCoverage", { id });
	expect(
		found.controls.map(({ section_title, checks }: Json) => [
			section_title,
			checks,
		]),
	).toEqual([
		["A.5.1", []],
		["A.5.2", own],
		["A.8.24", ["DISK_ENCRYPTION"]],
	]);
	expect(found.checks.map(({ check_key }: Json) => check_key)).toEqual([
		"DISK_ENCRYPTION",
		"TIME_SYNC",
	]);
	const check_keys = ["DISK_ENCRYPTION", "TIME_SYNC"];
	const live = { organization_id, check_keys };
	expect(found.checks).toEqual(
		(await assay.use("getCheckResults", live)).checks,
	);
	expect(found.checks[0].states.PASSING).toBeGreaterThan(0);
	expect(found.checks_counted_at).not.toBeNull();
});
