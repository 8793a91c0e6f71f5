import { afterAll, beforeAll, expect, test } from "vitest";
import { countChecksNow } from "../support/upkeep.ts";
import { axe, screenshot, visit } from "./browser.ts";
import { fleetOf } from "./fleet.ts";
import {
	names,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";

let registers: SampleRegisters;
beforeAll(async () => {
	registers = await startWithRisks();
	const { organizationId, database } = registers;
	const fleet = fleetOf(registers);
	for (const [name, status] of [
		["one", "PASS"],
		["two", "PASS"],
		["three", "FAIL"],
		["four", "UNKNOWN"],
	] as const) {
		await fleet.addReporting(organizationId, name, {
			DISK_ENCRYPTION: status,
			SCREEN_LOCK: "PASS",
		});
	}
	await countChecksNow(database.pool, organizationId);
	// What earlier days would have left.
	await database.owner.query(
		`insert into check_count_days (organization_id, day, counts, compliance)
		select $1, current_date - n, jsonb_build_object('DISK_ENCRYPTION', jsonb_build_object(
			'PASSING', 60 - n, 'FAILING', n
		)), '{}' from generate_series(1, 30) n
		-- The service may have counted before midnight.
		on conflict do nothing`,
		[organizationId],
	);
});
afterAll(() => registers.close());

const addFramework = async () =>
	(await registers.add("addFramework", { name: "ISO/IEC 27001:2022" }))
		.framework.id as string;

const addControl = async (framework_id: string, section_title: string) =>
	(
		await registers.add("addControl", {
			framework_id,
			section_title,
			name: `Control ${section_title}`,
		})
	).control.id as string;

test("a control shows the result of its checks, their history, and the devices behind each number", async () => {
	const id = await addControl(await addFramework(), "A.8.24");
	const page = await registers.open(registers.admin, `control/${id}`);
	const checks = page.getByRole("region", { name: "Device checks" });
	await checks.getByText("50% pass", { exact: true }).waitFor();
	await checks.getByText("by its number in the framework").waitFor();
	await checks
		.getByRole("img", {
			name: /^Full-disk encryption: 50% passed on .* 50% on/,
		})
		.waitFor();
	await axe(page);
	await checks.scrollIntoViewIfNeeded();
	await screenshot(page, "registers/control-checks");
	await page.setViewportSize({ width: 390, height: 844 });
	await checks.scrollIntoViewIfNeeded();
	await screenshot(page, "registers/control-checks-narrow");
	await page.setViewportSize({ width: 1440, height: 900 });
	await checks
		.getByRole("link", { name: "Full-disk encryption: 1 unknown" })
		.click();
	await page.waitForURL(/check_state=UNKNOWN/);
	await page.getByRole("link", { name: "four" }).waitFor();
	expect(await page.getByRole("link", { name: "three" }).count()).toBe(0);
});

test("the checks of a control are chosen in its form, and a viewer sees them", async () => {
	const id = await addControl(await addFramework(), "A.5.1");
	const page = await registers.open(registers.admin, `control/${id}`);
	await page
		.getByText("None: no check tests controls of this number")
		.waitFor();
	expect(
		await page.getByRole("region", { name: "Device checks" }).count(),
	).toBe(0);
	await page.getByRole("link", { name: "Edit" }).click();
	await page
		.getByRole("switch", { name: "Choose the checks yourself" })
		.check({ force: true });
	const input = page.getByRole("combobox", { name: "Tested by checks" });
	await input.fill("Screen");
	await page.getByRole("option", { name: "Screen or idle lock" }).click();
	await page.keyboard.press("Tab");
	await axe(page);
	await page.getByRole("button", { name: "Save the changes" }).click();
	const checks = page.getByRole("region", { name: "Device checks" });
	await checks.getByText("100% pass", { exact: true }).waitFor();
	await checks.getByText("Your organization chose these checks").waitFor();
	const { control } = await registers.use("getControl", { id });
	expect(control.tested_by_checks).toEqual(["SCREEN_LOCK"]);
	const viewer = await registers.makePerson("viewer");
	const theirs = await registers.open(viewer, `control/${id}`);
	await theirs
		.getByRole("region", { name: "Device checks" })
		.getByText("100% pass", { exact: true })
		.waitFor();
});

test("a choice of checks begins with those that count without a choice", async () => {
	const id = await addControl(await addFramework(), "A.8.24");
	const page = await registers.open(registers.admin, `control/${id}`);
	await page.getByRole("region", { name: "Device checks" }).waitFor();
	await page.getByRole("link", { name: "Edit" }).click();
	await page
		.getByRole("switch", { name: "Choose the checks yourself" })
		.check({ force: true });
	const input = page.getByRole("combobox", { name: "Tested by checks" });
	await input.fill("Screen");
	await page.getByRole("option", { name: "Screen or idle lock" }).click();
	await page.keyboard.press("Tab");
	const { control: before } = await registers.use("getControl", { id });
	await page.getByRole("button", { name: "Save the changes" }).click();
	await page.getByText("Your organization chose these checks").waitFor();
	const { control } = await registers.use("getControl", { id });
	expect(before.checks.length).toBeGreaterThan(0);
	expect(control.tested_by_checks).toEqual([...before.checks, "SCREEN_LOCK"]);
});

test("the coverage of a framework shows how many devices pass the checks of each control", async () => {
	const framework = await addFramework();
	for (const section of ["A.5.1", "A.8.1", "A.8.20", "A.8.24"]) {
		await addControl(framework, section);
	}
	const page = await registers.open(registers.admin, `framework/${framework}`);
	const controls = page.getByRole("region", { name: "Controls" });
	const row = (name: string) =>
		controls.getByRole("listitem").filter({ hasText: name });
	await row("Control A.8.24").getByText("50% pass").waitFor();
	await row("Control A.8.1").getByText("worst of 4 checks: 0% pass").waitFor();
	await row("Control A.8.20").getByText("each of 2 checks: 0% pass").waitFor();
	expect(await row("Control A.5.1").getByText("pass").count()).toBe(0);
	const checks = page.getByRole("region", { name: "Device checks" });
	await checks.getByText("Full-disk encryption").first().waitFor();
	await axe(page);
	await checks.scrollIntoViewIfNeeded();
	await screenshot(page, "registers/framework-checks");
	await page.setViewportSize({ width: 390, height: 844 });
	await screenshot(page, "registers/framework-checks-narrow");
});

test("a measure that its check contradicts is flagged on its page, in the list, on home and in the coverage", async () => {
	const framework = await addFramework();
	const control = await addControl(framework, "A.8.24");
	const { measure } = await registers.add("addMeasure", {
		name: "Disks are encrypted",
		category: "Endpoint",
		state: "IMPLEMENTED",
		verified_by_check: "DISK_ENCRYPTION",
		verified_by_percent: 95,
		linked_record_ids: [control],
	});
	await registers.add("addMeasure", {
		name: "Backups",
		category: "Servers",
		state: "IMPLEMENTED",
	});
	const path = `measure/${measure.id}`;
	const page = await registers.open(registers.admin, path);
	const checks = page.getByRole("region", { name: "Device checks" });
	await checks.getByText("Not verified", { exact: true }).waitFor();
	await checks.getByText("At least 95% of the required devices").waitFor();
	await page
		.getByText(
			/Contradiction: the state says Implemented, but only 50% of the required devices pass “Full-disk encryption”/,
		)
		.first()
		.waitFor();
	await axe(page);
	await screenshot(page, "registers/measure-contradicted");
	await page.setViewportSize({ width: 390, height: 844 });
	await screenshot(page, "registers/measure-contradicted-narrow");
	await page.setViewportSize({ width: 1440, height: 900 });
	await visit(page, registers.at("measure"));
	await page.getByRole("checkbox", { name: "Contradicted" }).check();
	await expect.poll(names(page)).toEqual(["Disks are encrypted"]);
	await page.getByRole("button", { name: /^Contradiction/ }).waitFor();
	await screenshot(page, "registers/measures-contradicted");
	await visit(page, `/o/${registers.organizationId}/`);
	await page
		.getByText("Device checks contradict what is implemented")
		.waitFor();
	await screenshot(page, "home-contradicted");
	await page.getByRole("link", { name: "Disks are encrypted" }).first().click();
	await checks.waitFor();
	await visit(page, registers.at(`framework/${framework}`));
	await page
		.getByRole("listitem")
		.filter({ hasText: "Control A.8.24" })
		.getByText("Contradicted", { exact: true })
		.waitFor();
	await page.getByText("1 measure: contradicted by its check").waitFor();
	await page.getByText("0 of 1 control that applies").waitFor();
	await axe(page);
	await screenshot(page, "registers/framework-contradicted");
	await page.getByRole("link", { name: "Control A.8.24" }).click();
	const coverage = page.getByRole("region", { name: "Coverage" });
	await coverage.getByText("Contradicted", { exact: true }).waitFor();
	await coverage
		.getByText(
			/the state says Implemented, but only 50% of the required devices pass “Full-disk encryption”; 95% are wanted/,
		)
		.waitFor();
	const linked = page.getByRole("region", { name: "Linked records" });
	await linked.getByText("Contradicted", { exact: true }).waitFor();
	await axe(page);
	await screenshot(page, "registers/control-contradicted");
	await page.setViewportSize({ width: 390, height: 844 });
	await screenshot(page, "registers/control-contradicted-narrow");
	await coverage.getByRole("link", { name: "Disks are encrypted" }).click();
	await page.waitForURL(`**/${path}`);
});

test("the page of a control says how far its measures cover it, also after a change", async () => {
	const framework = await addFramework();
	const id = await addControl(framework, "A.5.1");
	const page = await registers.open(registers.admin, `control/${id}`);
	const coverage = page.getByRole("region", { name: "Coverage" });
	await coverage.getByText("Nothing yet").waitFor();
	await coverage.getByText("No measure that applies is linked.").waitFor();
	for (const [name, state] of [
		["Policies are written", "IMPLEMENTED"],
		["Policies are reviewed", "IN_PROGRESS"],
		["Policies are printed", "NOT_APPLICABLE"],
	]) {
		await registers.add("addMeasure", {
			...{ name, state, category: "Policies" },
			linked_record_ids: [id],
		});
	}
	await page.reload();
	await coverage.getByText("Partly covered").waitFor();
	await coverage
		.getByText("1 of 2 measures that apply is implemented:")
		.waitFor();
	const lacking = coverage.getByRole("listitem");
	await expect
		.poll(() => lacking.allTextContents())
		.toEqual(["Policies are reviewed: In progress."]);
	await visit(page, registers.at(`framework/${framework}`));
	await page
		.getByText("3 measures: 1 implemented, 1 in progress, 1 not applicable")
		.waitFor();
	await axe(page);
	await page.setViewportSize({ width: 390, height: 844 });
	await page.getByText("3 measures: 1").scrollIntoViewIfNeeded();
	await screenshot(page, "registers/framework-measures-narrow");
	await page.setViewportSize({ width: 1440, height: 900 });
	await screenshot(page, "registers/framework-measures");
	await page.getByRole("link", { name: "Control A.5.1" }).click();
	await page.getByRole("link", { name: "Edit" }).click();
	await page.getByRole("textbox", { name: "Name" }).fill("Policies");
	await page.getByRole("button", { name: "Save the changes" }).click();
	await coverage.getByText("Partly covered").waitFor();
	await registers.use("updateControl", {
		...{ id, status: "EXCLUDED", exclusion_justification: "No policies" },
	});
	await page.reload();
	await coverage.getByText("The control does not apply.").waitFor();
	expect(await lacking.count()).toBe(0);
});

test("the check of a measure is chosen in its form, and the state follows people", async () => {
	const page = await registers.open(registers.admin, "measure/new");
	await page.getByRole("textbox", { name: "Name" }).fill("Screens lock");
	await page.getByRole("combobox", { name: "Category" }).fill("Endpoint");
	await page
		.getByRole("combobox", { name: "Verified by check" })
		.fill("Screen");
	await page.getByRole("option", { name: "Screen or idle lock" }).click();
	await page.getByRole("textbox", { name: "Wanted pass rate" }).fill("90");
	await axe(page);
	await page.getByRole("button", { name: "Add the measure" }).click();
	const checks = page.getByRole("region", { name: "Device checks" });
	await checks.getByText("Verified", { exact: true }).waitFor();
	expect(await page.getByText(/Contradiction/).count()).toBe(0);
	const verification = page.getByRole("region", {
		name: "Verification by devices",
	});
	await verification.getByText("90%", { exact: true }).waitFor();
	await page.getByRole("tab", { name: "History" }).click();
	await page.getByText("Wanted pass rate").waitFor();
});

test("a measure that no check verifies shows no pass rate", async () => {
	const { measure } = await registers.add("addMeasure", {
		name: "Laws are followed",
		category: "Legal",
	});
	const rate = /Wanted pass rate|%/;
	const page = await registers.open(registers.admin, `measure/${measure.id}`);
	const verification = page.getByRole("region", {
		name: "Verification by devices",
	});
	await verification.getByText("Verified by check").waitFor();
	expect(await verification.getByText(rate).count()).toBe(0);
	await page.getByRole("tab", { name: "History" }).click();
	await page.getByText("Legal", { exact: true }).waitFor();
	expect(await page.getByText(rate).count()).toBe(0);
	await visit(page, registers.at("measure?cols=verified_by_percent"));
	const row = page.getByRole("row", { name: "Laws are followed" });
	await row.getByLabel("Empty").waitFor();
	expect(await row.getByText(rate).count()).toBe(0);
	await visit(page, registers.at(`measure/${measure.id}?edit=true`));
	await page.getByRole("textbox", { name: "Name" }).waitFor();
	expect(await page.getByText(rate).count()).toBe(0);
});
