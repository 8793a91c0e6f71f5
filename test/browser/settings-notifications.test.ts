import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { makeStopToken } from "../../src/notifications/stop-link.ts";
import type { TestUser } from "../support/people.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";

const SECRET = "a secret of at least thirty-two characters";

let served: TestConsole;
let sink: SmtpSink;
let admin: TestUser;
let address: string;
const receiver = createServer((_request, response) => response.end("ok"));
beforeAll(async () => {
	receiver.listen(0, "127.0.0.1");
	await once(receiver, "listening");
	address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/services/T0/B0/s3cr3t`;
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		ASSAY_SECRET: SECRET,
	});
	admin = await served.makePerson("admin");
});
afterAll(async () => {
	await served.close();
	sink.close();
	receiver.closeAllConnections();
	receiver.close();
});

test("an administrator adds a chat and a weekly mail, tests the chat and sees the answer", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/settings/notifications`,
	);
	await page.getByText("No notifications are sent yet").waitFor();
	await page.getByRole("button", { name: "Add a channel" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Name").fill("The owners");
	await axe(page);
	await screenshot(page, "notifications-dialog-mail");
	await dialog.getByRole("button", { name: "Save" }).click();
	await page.getByText("Next mails:").waitFor();
	await served.database.owner.query(
		"update notification_channels set unmailed_count = 3, unmailed_at = now()",
	);
	await page.reload();
	await page
		.getByText(/^3 people got no mail on .* made in the console/)
		.waitFor();

	await page.getByRole("button", { name: "Add a channel" }).click();
	await dialog.getByRole("combobox", { name: "Kind" }).click();
	await page.getByRole("option", { name: "Slack" }).click();
	await dialog.getByLabel("Name").fill("Security team");
	await dialog.getByRole("textbox", { name: "Address" }).fill(address);
	await axe(page);
	await screenshot(page, "notifications-dialog-slack");
	await dialog.getByRole("button", { name: "Save" }).click();
	await page.getByRole("button", { name: "Test: Security team" }).click();
	await page.getByText(/Status 200 after/).waitFor();
	await axe(page);
	await screenshot(page, "notifications-desktop-light");
	expect(await page.content()).not.toContain("s3cr3t");
	await page.setViewportSize({ width: 390, height: 844 });
	await page.emulateMedia({ colorScheme: "dark" });
	await expect
		.poll(() =>
			page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
		)
		.toBe(true);
	await axe(page);
	await screenshot(page, "notifications-phone-dark");
	await page.getByRole("button", { name: "Delete: Security team" }).click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: "Delete the channel" })
		.click();
	await page
		.getByRole("button", { name: "Test: Security team" })
		.waitFor({ state: "detached" });
});

test("a person stops weekly mails with a button, and can start them again", async () => {
	const peopleId = makeId(served.organizationId, "people");
	await served.database.owner.query(
		`insert into people (organization_id, id, full_name, primary_email_address, kind)
		values ($1, $2, 'Grace', 'grace@example.com', 'EMPLOYEE')`,
		[served.organizationId, peopleId],
	);
	const token = makeStopToken(SECRET, {
		organizationId: served.organizationId,
		peopleId,
		kind: "DEVICE_DIGEST",
	});
	const page = await served.openPage({ viewport: { width: 390, height: 844 } });
	await page.goto(`/stop-mails#${token}`);
	await page.getByRole("button", { name: "Stop these mails" }).waitFor();
	await axe(page);
	await screenshot(page, "stop-mails-phone");
	await page.getByRole("button", { name: "Stop these mails" }).click();
	await page
		.getByText("You get no more weekly mails about your devices.")
		.waitFor();
	await page.getByRole("button", { name: "Start these mails again" }).click();
	await page
		.getByText("You get the weekly mails about your devices.")
		.waitFor();
});

test("the events of a webhook are chosen all or none, and its secret is not lost by a key or a click", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/settings/webhooks`,
	);
	await page.getByRole("button", { name: "Add a webhook" }).first().click();
	const dialog = page.getByRole("dialog");
	const url = dialog.getByRole("textbox", { name: "Address" });
	await url.fill("http://192.168.1.5/hook");
	// The buttons stay in view, although the events do not all have room.
	const screen = page.viewportSize();
	await page.setViewportSize({ width: 1280, height: 500 });
	const save = dialog.getByRole("button", { name: "Save" });
	await expect
		.poll(async () => {
			const box = await save.boundingBox();
			return box && box.y + box.height;
		})
		.toBeLessThan(500);
	if (screen) await page.setViewportSize(screen);
	await dialog.getByRole("button", { name: "None of the events" }).click();
	await dialog.getByText("0 of 21 chosen").waitFor();
	await dialog.getByRole("checkbox", { name: /has begun to fail/ }).check();
	await dialog.getByText("1 of 21 chosen").waitFor();
	await dialog.getByRole("button", { name: "All of the events" }).click();
	await dialog.getByText("21 of 21 chosen").waitFor();
	await axe(page);
	await dialog.getByRole("button", { name: "Save" }).click();
	await dialog
		.getByText(/^Must be a public address, which 192.168.1.5 is not/)
		.waitFor();
	await url.fill(address);
	await dialog.getByRole("button", { name: "Save" }).click();
	await dialog.getByText("This is shown once.").waitFor();

	const lost = dialog.getByText("The secret is lost when you close");
	await page.mouse.click(5, 400);
	await lost.waitFor();
	await axe(page);
	await screenshot(page, "webhook-secret-asks");
	await page.keyboard.press("Escape");
	await lost.waitFor();
	await dialog.getByRole("button", { name: "Copy Signing secret" }).click();
	await lost.waitFor({ state: "detached" });
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
});

test("a channel can tell daily events, and the addresses in them show their filter", async () => {
	const list = `/o/${served.organizationId}`;
	const page = await served.openPageAs(admin, `${list}/settings/notifications`);
	await page.getByRole("button", { name: "Add a channel" }).first().click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("combobox", { name: "Kind" }).click();
	await page.getByRole("option", { name: "Slack" }).click();
	for (const event of [
		/nonconformities, obligations or improvements are overdue/,
		/reviews, notices or expiries are overdue or due within 14 days/,
		/documents have waited for signatures/,
	]) {
		const choice = dialog.getByRole("checkbox", { name: event });
		expect(await choice.isChecked()).toBe(true);
		await choice.scrollIntoViewIfNeeded();
	}
	await screenshot(page, "notifications-dialog-daily-events");
	await page.goto(`${list}/r/document?lacks_signatures=true`);
	const remove = page.getByRole("button", {
		name: "Remove the filter Signatures missing",
	});
	await remove.waitFor();
	await axe(page);
	await screenshot(page, "documents-lack-signatures");
	await remove.click();
	await remove.waitFor({ state: "detached" });
	await visit(page, `${list}/r/vendor?next_review_date_until=2030-01-31`);
	await page.getByText(/review.*until.*2030/i).waitFor();
	await screenshot(page, "vendors-reviews-until");
});
