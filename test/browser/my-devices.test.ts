import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { postureResult } from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
let sink: SmtpSink;
let admin: TestUser;
let deviceId: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	admin = await served.makePerson("admin");
	const { organizationId: organization_id } = served;
	const { people } = await use("addPeople", {
		organization_id,
		full_name: "Grace Hopper",
		primary_email_address: "grace@example.com",
		kind: "EMPLOYEE",
	});
	const device = await served.activateDevice();
	deviceId = device.id;
	await use("updateDevice", {
		id: deviceId,
		owner_id: people.id,
		name: "Grace's laptop",
	});
	const results = [
		postureResult({
			status: "FAIL",
			evidence: { encrypted: false, unencrypted: ["/home"] },
		}),
		postureResult({ check_key: "FIREWALL_ENABLED", status: "PASS" }),
		postureResult({ check_key: "SCREEN_LOCK", status: "PASS" }),
	];
	await served.post("postures", { results }, { key: device.key });
});
afterAll(async () => {
	await served.close();
	sink.close();
});

function use(name: string, input: object) {
	return callByName(served.database, admin, name, input);
}

const pathIn = (text: string) =>
	/\/my-devices#asy_myd_\w+/.exec(text)?.[0] as string;

/** Sends the link as an administrator does on the device's page. */
async function sendFromPage(page: Page): Promise<string> {
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: "Send the owner a link" }).click();
	const dialog = page.getByRole("dialog");
	await axe(page);
	await screenshot(page, "my-devices-send");
	await dialog.getByRole("button", { name: "Mail the link" }).click();
	await page.getByText("A link is on its way to Grace Hopper.").waitFor();
	const { to, text } = await sink.next();
	expect(to).toBe("grace@example.com");
	return pathIn(text);
}

test("an administrator mails a link, and a button on a phone opens the devices and what to fix", async () => {
	const console = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/devices/${deviceId}`,
	);
	const path = await sendFromPage(console);
	for (const colorScheme of ["light", "dark"] as const) {
		const page = await served.openPage({
			viewport: { width: 390, height: 844 },
			colorScheme,
		});
		const { text } =
			colorScheme === "light" ? { text: path } : await anotherMail();
		await page.goto(pathIn(text));
		const button = page.getByRole("button", { name: "Show my devices" });
		await button.waitFor();
		await axe(page);
		await screenshot(page, `my-devices-button-${colorScheme}`);
		await button.focus();
		await page.keyboard.press("Enter");
		await page.getByRole("heading", { name: "Grace's laptop" }).waitFor();
		await page.getByRole("heading", { name: "Full-disk encryption" }).waitFor();
		await page.getByText("How to fix it").waitFor();
		await page.getByText("Fix it soon").waitFor();
		// The evidence is there for those who want it, and folded for the others.
		const evidence = page.getByText("/home", { exact: true });
		await evidence.waitFor({ state: "hidden" });
		await page
			.getByRole("button", { name: "What the device reported: Full-disk" })
			.click();
		await evidence.waitFor();
		await page
			.getByRole("heading", { name: "What your devices report" })
			.waitFor();
		expect(new URL(page.url()).hash).toBe("");
		expect(
			await page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
		).toBe(true);
		await axe(page);
		await screenshot(page, `my-devices-phone-${colorScheme}`);
		await page.setViewportSize({ width: 1280, height: 1400 });
		await screenshot(page, `my-devices-desktop-${colorScheme}`);
		// A reload stays on the page, and the console itself stays closed.
		await page.reload();
		await page.getByRole("heading", { name: "Grace's laptop" }).waitFor();
		await page.goto("/");
		await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
	}
});

async function anotherMail() {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/devices/${deviceId}`,
	);
	return { text: await sendFromPage(page) };
}

test("a used link offers a new one, and closing the page ends it", async () => {
	const { text: path } = await anotherMail();
	const first = await served.openPage();
	await first.goto(path);
	await first.getByRole("button", { name: "Show my devices" }).click();
	await first.getByRole("heading", { name: "Grace's laptop" }).waitFor();
	const second = await served.openPage();
	await second.goto(path);
	await second.getByRole("button", { name: "Show my devices" }).click();
	await second.getByText("This link no longer works.").waitFor();
	await axe(second);
	await screenshot(second, "my-devices-used");
	await second.getByRole("button", { name: "Mail me a new link" }).click();
	await second.getByText("a new one is on its way").waitFor();
	const { text } = await sink.next();
	await second.goto("about:blank");
	await second.goto(pathIn(text));
	await second.getByRole("button", { name: "Show my devices" }).click();
	await second.getByRole("heading", { name: "Grace's laptop" }).waitFor();
	await second.getByRole("button", { name: "Close this page" }).click();
	await second.getByRole("heading", { name: "This page is closed" }).waitFor();
	await second.goto("/my-devices");
	await second.getByText("Open the link to your devices").waitFor();
	await axe(second);
	await screenshot(second, "my-devices-no-link");
	await second.getByRole("link", { name: "Sign in" }).click();
	await second.getByLabel("E-mail address").waitFor();
});

test("without a mail server, a used link says whom to ask for a new one", async () => {
	const { text: path } = await anotherMail();
	const first = await served.openPage();
	await first.goto(path);
	await first.getByRole("button", { name: "Show my devices" }).click();
	await first.getByRole("heading", { name: "Grace's laptop" }).waitFor();
	const second = await served.openPage();
	await second.route("**/api/forgot-password", (route) =>
		route.fulfill({ json: { sends_mail: false } }),
	);
	await second.goto(path);
	await second.getByRole("button", { name: "Show my devices" }).click();
	await second.getByText("To get a new link, ask the people who").waitFor();
	expect(
		await second.getByRole("button", { name: "Mail me a new link" }).count(),
	).toBe(0);
	await axe(second);
});

test("an administrator copies a link, its page says so, and the administrator may not approve what it asks for", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/devices/${deviceId}`,
	);
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: "Send the owner a link" }).click();
	await page.getByRole("button", { name: "Make a link to copy" }).click();
	const shown = page.getByLabel("Link", { exact: true });
	await page.getByText("Only this computer can open this address.").waitFor();
	const path = pathIn((await shown.textContent()) ?? "");
	await axe(page);
	await screenshot(page, "my-devices-copy");
	const reader = await served.openPage();
	await reader.goto(path);
	await reader.getByRole("button", { name: "Show my devices" }).click();
	await reader
		.getByText("An administrator passed this link on to you")
		.waitFor();
	await reader
		.getByRole("button", {
			name: "Ask for an exception: Full-disk encryption",
		})
		.click();
	const dialog = reader.getByRole("dialog");
	await dialog.getByLabel("Reason").fill("It is replaced next week.");
	await dialog.getByRole("button", { name: "Ask for it" }).click();
	await reader.getByText("Your request was sent.").waitFor();

	const { device_exceptions } = await use("listDeviceExceptions", {
		organization_id: served.organizationId,
	});
	await page.goto(
		`/o/${served.organizationId}/devices/exceptions/${device_exceptions[0].id}`,
	);
	const approve = page.getByRole("button", { name: "Approve", exact: true });
	await page.getByText("and you are the only administrator").waitFor();
	await page
		.getByRole("link", { name: "invite another administrator" })
		.waitFor();
	expect(await approve.isDisabled()).toBe(true);
	await axe(page);
	const other = await served.makePerson("admin");
	await page.reload();
	await page
		.getByText("another administrator has to approve it. You can")
		.waitFor();
	await page.getByText(`Other administrators: ${other.name}.`).waitFor();
	expect(await approve.count()).toBe(0);
	await axe(page);
	await served.database.owner.query(
		"update memberships set role = 'member' where user_id = $1",
		[other.id],
	);
	await page.reload();
	await page.getByLabel("Note").fill("The new laptop is ordered.");
	await approve.click();
	await page.getByText("The exception is approved.").waitFor();
	await page
		.getByText("as the only administrator, who had copied the link")
		.waitFor();
	await use("updateDeviceException", {
		id: device_exceptions[0].id,
		ends_at: new Date().toISOString(),
	});
});

test("a person asks for an exception on a phone, and the page shows what became of it", async () => {
	const { text: path } = await anotherMail();
	const page = await served.openPage({
		viewport: { width: 390, height: 844 },
	});
	await page.goto(path);
	await page.getByRole("button", { name: "Show my devices" }).click();
	const button = page.getByRole("button", {
		name: "Ask for an exception: Full-disk encryption",
	});
	await button.scrollIntoViewIfNeeded();
	await screenshot(page, "my-devices-exception-button");
	await button.click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Ask for it" }).click();
	await dialog.getByText("Say why").waitFor();
	await dialog
		.getByLabel("Reason")
		.fill("The laptop is replaced next week, and it stays in the office.");
	await axe(page);
	await screenshot(page, "my-devices-exception-form");
	await dialog.getByLabel("Last day").fill("2999-01-01");
	await dialog.getByRole("button", { name: "Ask for it" }).click();
	await dialog.getByText(/^Choose a day up to \S/).waitFor();
	const end = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
	await dialog.getByLabel("Last day").fill(end);
	await dialog.getByRole("button", { name: "Ask for it" }).click();
	await page.getByText("Your request was sent.").waitFor();
	await page
		.getByText(/^An exception was requested on .*, last day \d/)
		.waitFor();
	await dialog.waitFor({ state: "hidden" });
	expect(await button.count()).toBe(0);
	expect(
		await page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
	).toBe(true);
	await axe(page);
	await screenshot(page, "my-devices-exception-requested");
	await page.setViewportSize({ width: 1280, height: 1200 });
	await screenshot(page, "my-devices-exception-desktop");
	const { device_exceptions } = await use("listDeviceExceptions", {
		organization_id: served.organizationId,
	});
	await use("approveDeviceException", { id: device_exceptions[0].id });
	await page.reload();
	await page.getByRole("button", { name: /checks \(/ }).click();
	await page.getByText("An exception was approved. It ends on").waitFor();
	await axe(page);
	await page.setViewportSize({ width: 390, height: 844 });
	await screenshot(page, "my-devices-exception-approved");
});

test("a device that only lacks reports says which checks, and what its owner can do", async () => {
	const { people } = await use("addPeople", {
		organization_id: served.organizationId,
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const device = await served.activateDevice();
	await use("updateDevice", {
		id: device.id,
		owner_id: people.id,
		name: "Ada's laptop",
	});
	const results = CHECK_KEYS.filter((key) => key !== "TIME_SYNC").map(
		(check_key) => postureResult({ check_key, status: "PASS" }),
	);
	await served.post("postures", { results }, { key: device.key });
	const { link } = await use("copyMyDevicesLink", {
		organization_id: served.organizationId,
		device_id: device.id,
	});
	const page = await served.openPage({ viewport: { width: 390, height: 844 } });
	await page.goto(pathIn(link));
	await page.getByRole("button", { name: "Show my devices" }).click();
	const section = page.getByRole("region", { name: "Ada's laptop" });
	await section.getByText("One check has no recent report").waitFor();
	await section
		.getByRole("heading", { name: "System clock synchronization" })
		.waitFor();
	await section.getByText("Not reported", { exact: true }).waitFor();
	await section.getByText("sudo assay-agent once --force").waitFor();
	await section
		.getByRole("button", { name: `The other checks (${results.length})` })
		.waitFor();
	expect(await section.getByText("Everything is fine").count()).toBe(0);
	await axe(page);
	await screenshot(page, "my-devices-silent-check");

	results.push(postureResult({ check_key: "TIME_SYNC", status: "PASS" }));
	await served.post("postures", { results }, { key: device.key });
	await page.reload();
	await section.getByText("Everything is fine").waitFor();
	expect(await section.getByText("no recent report").count()).toBe(0);
});
