import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { settled } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

function use(by: TestUser, name: string, input: object) {
	return callByName(served.database, by, name, {
		organization_id: served.organizationId,
		...input,
	});
}

test("a member mentions a colleague on a record, who sees it on the home page and answers", async () => {
	const ada = await served.makePerson("admin");
	const bob = await served.makePerson("member");
	const { vendor } = await use(ada, "addVendor", { name: "Globex" });
	const path = `/o/${served.organizationId}/r/vendor/${vendor.id}`;
	const page = await served.openPageAs(ada, path);
	const panel = page.getByRole("region", { name: "Comments" });
	await panel.getByText("Nobody has commented yet.").waitFor();
	await panel.getByRole("button", { name: "Comment" }).click();
	await panel.getByText("Enter a comment.").waitFor();
	const text = panel.getByRole("textbox", { name: "Comment" });
	await text.fill("It ends in May. Write to x@example.com.");
	await text.press("Control+Home");
	expect(await page.getByRole("option").count()).toBe(0);
	// Every address ends like this, so it finds nobody.
	await text.pressSequentially("@com");
	expect(await page.getByRole("option").count()).toBe(0);
	for (const _ of "@com") await text.press("Backspace");
	await text.pressSequentially(`@${bob.email.split("@")[0]}`);
	await page.getByRole("option", { name: bob.email }).waitFor();
	await axe(page);
	await text.press("Enter");
	await page.getByRole("option").first().waitFor({ state: "hidden" });
	// The page moves the caret behind the name with the next frame.
	await settled(page);
	await text.pressSequentially("is it signed? ");
	await expect
		.poll(() => text.inputValue())
		.toBe(`@${bob.name} is it signed? It ends in May. Write to x@example.com.`);
	await panel.getByRole("button", { name: "Comment" }).click();
	await panel.getByRole("heading", { name: "Comments (1)" }).waitFor();
	await panel.getByRole("button", { name: "Stop watching" }).waitFor();
	await axe(page);
	await panel.scrollIntoViewIfNeeded();
	await screenshot(page, "comments/panel");

	const other = await served.openPageAs(bob, `/o/${served.organizationId}`, {
		viewport: { width: 390, height: 1400 },
		colorScheme: "dark",
	});
	const news = other.getByRole("region", { name: "Comments for you" });
	await news.getByText("Mentions you").waitFor();
	await axe(other);
	await news.scrollIntoViewIfNeeded();
	await screenshot(other, "comments/home-390-dark");
	await news.getByRole("link", { name: "Globex" }).click();
	const answer = other.getByRole("region", { name: "Comments" });
	await answer.getByRole("textbox", { name: "Comment" }).fill("Yes.");
	await answer.getByRole("button", { name: "Comment" }).click();
	await answer.getByRole("heading", { name: "Comments (2)" }).waitFor();
	await axe(other);
	await answer.scrollIntoViewIfNeeded();
	await screenshot(other, "comments/panel-390-dark");
	expect(await other.evaluate("document.documentElement.scrollWidth")).toBe(
		390,
	);

	await page.reload();
	await panel.getByText("Yes.").waitFor();
	await panel
		.getByRole("article", { name: /Comment of/ })
		.first()
		.getByRole("button", { name: /^Delete the comment/ })
		.click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: "Delete the comment" })
		.click();
	await panel.getByRole("heading", { name: "Comments (1)" }).waitFor();
});

test("an author corrects a comment and deletes it, and a colleague gets no button for it", async () => {
	const ada = await served.makePerson("member");
	const bob = await served.makePerson("member");
	const { vendor } = await use(ada, "addVendor", { name: "Umbrella" });
	const { comment } = await callByName(served.database, ada, "addComment", {
		record_id: vendor.id,
		text: "Ask Bbo",
	});
	const path = `/o/${served.organizationId}/r/vendor/${vendor.id}`;
	const page = await served.openPageAs(ada, path);
	const panel = page.getByRole("region", { name: "Comments" });
	await panel.getByRole("button", { name: "Edit your comment" }).click();
	const form = panel.getByRole("form", { name: "Edit your comment" });
	const text = form.getByRole("textbox", { name: "Comment" });
	expect(await text.inputValue()).toBe("Ask Bbo");
	await text.fill("");
	await form.getByRole("button", { name: "Save" }).click();
	await form.getByText("Enter a comment.").waitFor();
	await text.fill("Ask Bob");
	await axe(page);
	await screenshot(page, "comments/edit");
	await form.getByRole("button", { name: "Save" }).click();
	const article = panel.getByRole("article");
	await article.getByText("Ask Bob").waitFor();
	await article.getByText(/, edited /).waitFor();
	await axe(page);

	const other = await served.openPageAs(bob, path);
	const theirs = other.getByRole("region", { name: "Comments" });
	await theirs.getByText("Ask Bob").waitFor();
	for (const name of [/^Edit/, /^Delete/]) {
		expect(await theirs.getByRole("button", { name }).count()).toBe(0);
	}

	await served.database.owner.query(
		"update record_comments set created_at = now() - interval '16 minutes' where id = $1",
		[comment.id],
	);
	await panel.getByRole("button", { name: "Edit your comment" }).click();
	await text.fill("Ask Eve");
	await form.getByRole("button", { name: "Save" }).click();
	await form.getByText("can be corrected for 15 minutes").waitFor();
	await form.getByRole("button", { name: "Cancel" }).click();
	await page.reload();
	await article.getByText("Ask Bob").waitFor();
	expect(await panel.getByRole("button", { name: /^Edit/ }).count()).toBe(0);
	await panel.getByRole("button", { name: "Delete your comment" }).click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: "Delete the comment" })
		.click();
	await panel.getByText("Nobody has commented yet.").waitFor();
});

test("a viewer reads the comments on a device", async () => {
	const ada = await served.makePerson("admin");
	const viewer = await served.makePerson("viewer");
	const { device } = await use(ada, "addDevice", { name: "Ada's laptop" });
	const input = { record_id: device.id, text: "Comes back on Monday." };
	await callByName(served.database, ada, "addComment", input);
	const page = await served.openPageAs(
		viewer,
		`/o/${served.organizationId}/devices/${device.id}?tab=comments`,
	);
	const panel = page.getByRole("region", { name: "Comments" });
	await panel.getByText("Comes back on Monday.").waitFor();
	expect(await panel.getByRole("button").count()).toBe(0);
	await axe(page);
});

test("a comment that is not sent is still there after the reader was elsewhere", async () => {
	const ada = await served.makePerson("admin");
	const bob = await served.makePerson("member");
	const { vendor } = await use(ada, "addVendor", { name: "Initech" });
	const path = `/o/${served.organizationId}/r/vendor/${vendor.id}`;
	const page = await served.openPageAs(ada, path);
	const panel = page.getByRole("region", { name: "Comments" });
	const text = panel.getByRole("textbox", { name: "Comment" });
	const isThere = () => expect.poll(() => text.inputValue()).toBe("Ask them");
	await text.fill("Ask them");
	await page.getByRole("tab", { name: "History" }).click();
	await text.waitFor({ state: "detached" });
	await page.getByRole("tab", { name: "Overview" }).click();
	await isThere();
	await page.getByRole("link", { name: "Edit", exact: true }).click();
	await page.getByRole("heading", { name: "Edit Initech" }).waitFor();
	await page.getByRole("button", { name: "Cancel" }).click();
	await isThere();
	await page.getByRole("link", { name: "Risks", exact: true }).click();
	await page.getByRole("heading", { name: "Risks", level: 1 }).waitFor();
	await page.goBack();
	await isThere();
	const asked = page.waitForEvent("dialog");
	await page.close({ runBeforeUnload: true });
	const dialog = await asked;
	expect(dialog.type()).toBe("beforeunload");
	await dialog.dismiss();
	// Chromium does nothing for a reload that is asked for before it has done with closing.
	await settled(page);
	page.once("dialog", (question) => question.accept());
	await page.reload();
	await isThere();

	await panel.getByRole("button", { name: "Comment" }).click();
	await panel.getByRole("heading", { name: "Comments (1)" }).waitFor();
	expect(await text.inputValue()).toBe("");
	await page.reload();
	await panel.getByRole("heading", { name: "Comments (1)" }).waitFor();
	expect(await text.inputValue()).toBe("");

	const other = await served.openPageAs(bob, path);
	const theirs = other.getByRole("textbox", { name: "Comment" });
	await theirs.waitFor();
	expect(await theirs.inputValue()).toBe("");
});
