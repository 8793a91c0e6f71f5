import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SILENCE_DAYS } from "../../src/devices/check-rules.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { heartbeatBody, type TestDevice } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import {
	DAY_MS,
	type Fleet,
	fleetOf,
	HOUR_MS,
	must,
	statesOf,
} from "./fleet.ts";
import { pressEscape } from "./settled.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

async function choose(page: Page, action: string | RegExp) {
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: action }).click();
}

const tokenOn = async (page: Page) =>
	(await page.getByLabel("Enrollment token", { exact: true }).textContent()) ??
	"";

/** Returns the labels of commands that the progress covers in a low window, at any position. */
async function coveredByProgress(page: Page): Promise<(string | null)[]> {
	const size = page.viewportSize();
	await page.setViewportSize({ width: 1280, height: 560 });
	const progress = page.getByText("Waiting for the device to enroll");
	const covered = new Set<string | null>();
	const commands = await page.getByRole("main").locator("pre").all();
	expect(commands.length).toBeGreaterThan(1);
	for (const command of commands) {
		for (const block of ["start", "center", "end"]) {
			await command.evaluate(
				(one, at) => one.scrollIntoView({ block: at }),
				block,
			);
			const one = await command.boundingBox();
			const other = await progress.boundingBox();
			if (!one || !other) throw new Error("nothing is shown");
			if (one.y < other.y + other.height && other.y < one.y + one.height) {
				covered.add(await command.getAttribute("aria-label"));
			}
		}
	}
	if (size) await page.setViewportSize(size);
	return [...covered];
}

test("an administrator adds a device for a new person, it enrolls with the token, and the page shows its report", async () => {
	const { page, organization } = await fleet.start(
		"admin",
		async () => undefined,
	);
	await page.getByRole("heading", { name: "No devices yet" }).waitFor();
	await screenshot(page, "devices/empty");
	await page.getByRole("link", { name: "Add device" }).first().click();
	await page.getByLabel("Name", { exact: true }).fill("Ada's laptop");

	await page.getByRole("button", { name: "Create a person" }).click();
	const dialog = page.getByRole("dialog", { name: "Create a person" });
	await dialog.getByLabel("Full name").fill("Ada Lovelace");
	await dialog.getByLabel("E-mail address").fill("not an address");
	await dialog.getByRole("button", { name: "Create the person" }).click();
	await dialog.getByText("e-mail", { exact: false }).last().waitFor();
	await axe(page);
	await dialog.getByLabel("E-mail address").fill("ada@example.com");
	await dialog.getByRole("button", { name: "Create the person" }).click();
	await dialog.waitFor({ state: "hidden" });
	await expect
		.poll(() => page.getByRole("combobox", { name: "Owner" }).inputValue())
		.toBe("Ada Lovelace");
	await axe(page);
	await screenshot(page, "devices/add");
	await page.getByRole("button", { name: "Add the device" }).click();

	await page.getByText("Waiting for the device to enroll").waitFor();
	await axe(page);
	await screenshot(page, "devices/token");
	expect(await coveredByProgress(page)).toEqual([]);
	const token = await tokenOn(page);
	await page.getByRole("link", { name: "Back to the devices" }).click();
	const lost = page.getByText("The token is lost when you leave");
	await lost.waitFor();
	await axe(page);
	await screenshot(page, "devices/token-lost");
	await page.getByRole("button", { name: "Copy Enrollment token" }).click();
	await lost.waitFor({ state: "detached" });
	expect(await page.evaluate("navigator.clipboard.readText()")).toBe(token);

	const enrolled = await must(served.post("enroll", { token }), 200);
	const { api_key: key } = JSON.parse(enrolled) as { api_key: string };
	await page.getByText("Waiting for the first heartbeat").waitFor();
	const facts = heartbeatBody({ hostname: "ada.local", platform: "DARWIN" });
	await must(served.post("heartbeat", facts, { key }), 200);
	await page.getByText("The device is enrolled").waitFor();
	await page.getByText("Copy it now").waitFor({ state: "detached" });
	expect(await page.getByRole("main").locator("pre").count()).toBe(0);

	await page.getByRole("link", { name: "Open the device" }).click();
	await page.getByRole("heading", { name: "Ada's laptop", level: 1 }).waitFor();
	const { hardware_uuid: hardware } = facts;
	for (const fact of ["ada.local", "macOS", "C02XK1", hardware]) {
		await page.getByText(fact, { exact: true }).waitFor();
	}
	await page.getByRole("link", { name: "Ada Lovelace" }).waitFor();
	await expect
		.poll(() => page.getByText("Not reported", { exact: true }).count())
		.toBe(CHECK_KEYS.length);

	const device = { id: "", key, hardwareUuid: hardware };
	const silent = (SILENCE_DAYS.default + 1) * DAY_MS;
	for (const agoMs of [silent + HOUR_MS, silent]) {
		await fleet.report(device, { DISK_ENCRYPTION: "FAIL" }, agoMs);
	}
	await fleet.report(device, { DISK_ENCRYPTION: "PASS" });
	await page.reload();
	await page
		.getByRole("tabpanel")
		.getByText("Pass", { exact: true })
		.first()
		.waitFor();
	await page.getByRole("button", { name: "Full-disk encryption" }).click();
	await page.getByText("root, home").waitFor();
	await axe(page);
	await screenshot(page, "devices/device");
	await page.getByRole("button", { name: "As sent (JSON)" }).click();
	await page.getByText('"tool": "checker"').waitFor();

	await page.getByRole("tab", { name: "History" }).click();
	const timeline = page.getByRole("img", { name: /^Full-disk encryption/ });
	await timeline.waitFor();
	await expect
		.poll(() => statesOf(timeline))
		.toEqual(["FAIL", "SILENT", "PASS"]);
	await page
		.getByRole("button", { name: /^Every change of Full-disk/ })
		.click();
	const changes = page.getByRole("region", { name: /^Changes: Full-disk/ });
	await changes.getByText("Fail", { exact: true }).waitFor();
	await changes.getByText("No change since").waitFor();
	await axe(page);
	await screenshot(page, "devices/history-new");

	await visit(page, `/o/${organization}/devices`);
	await page.getByRole("link", { name: "Ada's laptop" }).waitFor();
});

test("an administrator makes an enrollment key, approves the devices that used it, and says which was set up again", async () => {
	let old: TestDevice = { id: "", key: "", hardwareUuid: "" };
	const { page, at } = await fleet.start("admin", async (organization) => {
		old = await fleet.addReporting(organization, "earlier.local", {
			DISK_ENCRYPTION: "PASS",
		});
		return undefined;
	});
	await page.getByRole("button", { name: "More actions" }).click();
	await page.getByRole("menuitem", { name: "Enrollment keys" }).click();
	await page.getByRole("heading", { name: "No enrollment keys yet" }).waitFor();
	await axe(page);
	await screenshot(page, "devices/keys-empty");
	await page.getByRole("button", { name: "Make a key" }).click();
	await page.getByLabel("Name").fill("Intune");
	await page.getByLabel("Maximum number of devices").fill("500");
	await page.getByLabel("An administrator approves each device").check();
	await axe(page);
	await screenshot(page, "devices/key-form");
	await page
		.getByRole("dialog")
		.getByRole("button", { name: "Make the key" })
		.click();
	const secret = page.getByLabel("Enrollment key", { exact: true });
	await page
		.getByText("Only this computer can open this address.")
		.first()
		.waitFor();
	await secret.waitFor();
	const token = (await secret.textContent()) ?? "";
	expect(token).toMatch(/^asy_enk_/);
	// A copied command must not claim an invented owner for every device.
	for (const system of ["macOS", "Windows", "FreeBSD", "Linux"]) {
		await page.getByRole("tab", { name: system }).click();
		const tab = page.getByRole("tabpanel", { name: system });
		await tab.getByText("--owner-email ADDRESS", { exact: true }).waitFor();
		const commands = await tab
			.getByLabel("Commands", { exact: true })
			.textContent();
		expect(commands).toContain("--enrollment-token-file");
		expect(commands).not.toMatch(/owner|@/);
	}
	await axe(page);
	await screenshot(page, "devices/key-secret");
	await pressEscape(page.getByRole("dialog"));
	// Nobody copied the key.
	await page.getByRole("button", { name: "Close without the key" }).click();

	const hardwares = ["new", old.hardwareUuid];
	const keys: string[] = [];
	for (const hardware_uuid of hardwares) {
		const enrolled = await must(served.post("enroll", { token }), 200);
		const { api_key: key } = JSON.parse(enrolled) as { api_key: string };
		keys.push(key);
		const facts = heartbeatBody({ hardware_uuid, hostname: hardware_uuid });
		await must(served.post("heartbeat", facts, { key }), 400);
	}
	await page.reload();
	await page.getByText("2 of 500").waitFor();
	await axe(page);
	await screenshot(page, "devices/keys");
	await page.getByRole("link", { name: "2 waiting for approval" }).click();
	await page.getByRole("link", { name: "new" }).waitFor();
	await page.getByLabel("Select all on this page").check();
	await page.getByRole("status").getByText("2 selected").waitFor();
	await axe(page);
	await screenshot(page, "devices/selected");
	// Nobody may say that a device is the same before somebody has approved it.
	expect(await page.getByRole("button", { name: /^Same device/ }).count()).toBe(
		0,
	);
	await page.getByRole("button", { name: /^Approve/ }).click();
	await page
		.getByRole("dialog", { name: "Approve 2 devices?" })
		.getByRole("button", { name: "Approve" })
		.click();
	await page.getByRole("heading", { name: "No devices match" }).waitFor();
	await visit(page, at("/devices?conflict=DUPLICATE_HARDWARE"));
	await page.getByLabel("Select all on this page").check();
	await page.getByRole("button", { name: /^Same device,/ }).click();
	const asked = page.getByRole("dialog", {
		name: /earlier record of 1 device/,
	});
	await asked
		.getByRole("listitem")
		.filter({ hasText: old.hardwareUuid })
		.filter({ hasText: "replaces earlier.local" })
		.waitFor();
	await asked
		.getByRole("button", { name: "Same device, set up again" })
		.click();
	await page.getByRole("heading", { name: "No devices match" }).waitFor();
	for (const [index, hardware_uuid] of hardwares.entries()) {
		const facts = heartbeatBody({ hardware_uuid, hostname: hardware_uuid });
		await must(
			served.post("heartbeat", facts, { key: keys[index] ?? "" }),
			200,
		);
	}
	await page.goto(at(`/devices/${old.id}`));
	await page.getByText("Since it was set up again").waitFor();
	await page.getByRole("link", { name: old.hardwareUuid }).click();
	await page.getByText("Before it was set up again").waitFor();
	await page.getByText("Intune", { exact: true }).waitFor();

	await visit(page, at("/devices?platform=LINUX"));
	await page.getByLabel("Select new").check();
	await page.getByRole("button", { name: /^Groups/ }).click();
	await page.getByRole("menuitem", { name: /^A new group/ }).click();
	await page.getByLabel("Name").fill("Sales");
	await page.getByRole("button", { name: "Save the group" }).click();
	await page.getByText("The group “Sales” is saved.").waitFor();
	await page.getByRole("button", { name: "More actions" }).click();
	await page.getByRole("menuitem", { name: /^Save the filter/ }).click();
	await page.getByLabel("Name").fill("All Linux");
	await axe(page);
	await page.getByRole("button", { name: "Save the group" }).click();
	await page.getByText("The group “All Linux” is saved.").waitFor();
	await page.getByRole("button", { name: "More actions" }).click();
	await page.getByRole("menuitem", { name: "Groups" }).click();
	await page.getByText("by a filter").waitFor();
	await axe(page);
	await screenshot(page, "devices/groups");
	await page.getByRole("link", { name: "Sales" }).click();
	await page.getByRole("link", { name: "new" }).click();
	await page.getByRole("link", { name: "All Linux" }).waitFor();
});

test("a device that has never reported says why, and links to the state of its enrollment", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const { id } = await served.makeToken(organization);
		return `/devices/${id}`;
	});
	const notice = page.getByRole("alert", {
		name: "This device is not active yet",
	});
	await notice.waitFor();
	await axe(page);
	await screenshot(page, "devices/pending");
	await notice.getByRole("link").click();
	await page.getByRole("heading", { name: "Enrollment token" }).waitFor();
	await page.getByText("Not used yet").waitFor();
});

test("who leaves a new token behind on purpose comes to the page that was clicked", async () => {
	const { page, organization } = await fleet.start(
		"admin",
		async () => "/devices/new",
	);
	await page.getByRole("button", { name: "Add the device" }).click();
	await page.getByText("Waiting for the device to enroll").waitFor();
	await page.getByRole("link", { name: "Risks", exact: true }).click();
	await page.getByRole("button", { name: "Leave without the token" }).click();
	await page.waitForURL(`**/o/${organization}/r/risk`);
});

test("the agent of a revoked device gets 401, a new token reactivates the device, and deleting removes it", async () => {
	let device: TestDevice = { id: "", key: "", hardwareUuid: "" };
	const { page, at } = await fleet.start("admin", async (organization) => {
		device = await fleet.addReporting(organization, "lost.local", {
			DISK_ENCRYPTION: "PASS",
		});
		return `/devices/${device.id}`;
	});
	await choose(page, /^Revoke/);
	const asked = page.getByRole("dialog", { name: "Revoke lost.local?" });
	await asked.getByText("Its history stays").waitFor();
	await axe(page);
	await asked.getByRole("button", { name: "Revoke the device" }).click();
	await page.getByRole("status").getByText("Revoked").waitFor();
	const beat = heartbeatBody({ hardware_uuid: device.hardwareUuid });
	await must(served.post("heartbeat", beat, { key: device.key }), 401);

	await choose(page, /^Reissue/);
	await page.getByRole("button", { name: "Reissue the token" }).click();
	await page.getByText("Waiting for the device to enroll").waitFor();
	await axe(page);
	await screenshot(page, "devices/reissue");
	const enrolled = await must(
		served.post("enroll", { token: await tokenOn(page) }),
		200,
	);
	const { api_key: key } = JSON.parse(enrolled) as { api_key: string };
	await must(served.post("heartbeat", beat, { key }), 200);
	await page.getByText("The device is enrolled").waitFor();
	// Nobody needs the token any more, so closing does not ask.
	await page.getByRole("button", { name: "Done" }).click();
	await page.getByRole("status").getByText("Active").waitFor();
	await page.getByRole("tab", { name: "Enrollment" }).click();
	await page.getByText("In use by the device's agent").waitFor();

	await choose(page, /^Delete/);
	await page.getByRole("button", { name: "Delete the device" }).click();
	await page.getByRole("heading", { name: "No devices yet" }).waitFor();
	await must(served.post("heartbeat", beat, { key }), 401);
	await page.goto(at(`/devices/${device.id}`));
	await page.getByRole("heading", { name: "Not found" }).waitFor();
});
