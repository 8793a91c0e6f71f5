import { afterAll, beforeAll, expect, test } from "vitest";
import { readDocumentTemplate } from "../../src/starters/document-templates.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { focused, typeInto } from "./settled.ts";

let served: TestConsole;
let ada: TestUser;
let grace: TestUser;
let vera: TestUser;
beforeAll(async () => {
	served = await startConsole();
	ada = await served.makePerson("admin");
	grace = await served.makePerson("member");
	vera = await served.makePerson("viewer");
});
afterAll(() => served.close());

function use(name: string, input: object) {
	return callByName(served.database, ada, name, input);
}
const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

const personOf = async ({ email }: TestUser, full_name: string) =>
	(
		await add("addPeople", {
			full_name,
			kind: "EMPLOYEE",
			primary_email_address: email,
		})
	).people.id as string;

test("a policy is written, rejected, approved, published, and signed by who was asked", async () => {
	const approver = await personOf(grace, "Grace Hopper");
	await personOf(vera, "Vera Rubin");
	const { document } = await add("addDocument", {
		title: "Acceptable use",
		document_type: "POLICY",
		classification: "INTERNAL",
		approver_ids: [approver],
	});
	const path = `/o/${served.organizationId}/r/document/${document.id}`;
	const page = await served.openPageAs(ada, path);
	const list = await served.openPageAs(
		vera,
		`/o/${served.organizationId}/r/document`,
	);
	const row = list.getByRole("row", { name: /Acceptable use/ });
	await row.getByText("No text").waitFor();
	const text = page.getByRole("region", { name: "Text" });
	await text.getByText("This document has no text yet.").waitFor();
	await text.getByRole("button", { name: "Start from a template" }).click();
	await page.getByRole("menuitem", { name: "Acceptable use policy" }).click();
	const rich = text.getByRole("textbox", { name: "Text", exact: true });
	await rich.getByRole("heading", { name: "Devices" }).waitFor();
	await rich.getByText("how people at Acme use laptops").waitFor();
	await text
		.getByText("This is the template “Acceptable use policy”.")
		.waitFor();
	await axe(page);
	await screenshot(page, "documents/editor");
	await rich.press("Control+A");
	await typeInto(rich, "# Screens\nEverybody ");
	await text.getByRole("button", { name: "Bold" }).click();
	await typeInto(rich, "locks");
	await text.getByRole("button", { name: "Bold" }).click();
	await typeInto(rich, " the screen at work");
	await page.keyboard.press("Control+Shift+ArrowLeft");
	await page.keyboard.press("Control+K");
	await page.getByLabel("Enter URL").fill("example.com/rules");
	await page.keyboard.press("Enter");
	await rich.getByRole("link", { name: "work" }).waitFor();
	await page.getByLabel("Enter URL").waitFor({ state: "hidden" });
	await focused(rich);
	// A click waits until the page has seen where the cursor is.
	await page.keyboard.press("End");
	await text.getByRole("button", { name: "Italic" }).click();
	await text.getByRole("button", { name: "Italic" }).click();
	await typeInto(rich, "\n- at the office\non the train\n\n");
	await text.getByRole("button", { name: "Insert table" }).click();
	await page.getByRole("button", { name: /2.*2/ }).click();
	await typeInto(rich, "Place | and [x]");
	await page.keyboard.press("Tab");
	await page.keyboard.type("Rule");
	await axe(page);
	await screenshot(page, "documents/table");
	await page.keyboard.press("Escape");
	await text.getByText("Markdown", { exact: true }).click();
	const markdown = text.getByLabel("Text", { exact: true });
	await expect
		.poll(() => markdown.inputValue())
		.toBe(
			"# Screens\n\nEverybody **locks** the screen at [work](https://example.com/rules)\n\n- at the office\n- on the train\n\n| Place \\| and \\[x\\] | Rule |\n| --- | --- |\n|  |  |",
		);
	await markdown.fill(
		"# Screens\n\nEverybody **locks** the screen.\n\n- [x] at the office\n- [ ] on the train\n\n<script>alert(1)</script>\n\n[Bad](javascript:alert(1))",
	);
	const preview = text.getByRole("region", { name: "Preview" });
	await preview.getByRole("heading", { name: "Screens" }).waitFor();
	await preview.getByText("<script>alert(1)</script>").waitFor();
	expect(await preview.getByRole("link").count()).toBe(0);
	expect(await preview.getByLabel("Done", { exact: true }).isChecked()).toBe(
		true,
	);
	await axe(page);
	await screenshot(page, "documents/markdown");
	await text.getByText("Rich text", { exact: true }).click();
	await rich.getByText("<script>alert(1)</script>").waitFor();
	expect(await rich.getByRole("link").getAttribute("href")).toBe("");
	await text.getByText("Markdown", { exact: true }).click();
	await markdown.fill("![A plan](https://example.com/plan.png)");
	await text.getByText("Rich text", { exact: true }).click();
	await text.getByText(/cannot show all of this text/).waitFor();
	await markdown.fill("# Screens\n\n* Everybody **locks** the screen.");
	await text.getByText("Rich text", { exact: true }).click();
	await rich.getByText("the screen.").click();
	await focused(rich);
	await page.keyboard.press("End");
	await page.keyboard.type(" Always after [5] minutes.");
	// Everything is new in the first version.
	expect(await text.getByLabel("What is new (optional)").count()).toBe(0);
	await text.getByRole("button", { name: "Save the text" }).click();
	await text.getByRole("button", { name: "Ask for approval …" }).click();
	await page.getByRole("dialog").getByText("It still says [5].").waitFor();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: "Ask for approval" })
		.click();
	await text.getByText("Pending approval", { exact: true }).waitFor();
	// The author does not decide. The headings of the text stand below that of the page.
	await text.getByRole("button", { name: "Take back …" }).click();
	const question = page.getByRole("dialog", { name: "Take back version 1?" });
	await question.getByLabel("Why (optional)").fill("A typing mistake");
	await axe(page);
	await screenshot(page, "documents/take-back");
	await question.getByRole("button", { name: "Take back" }).click();
	await text.getByText("Draft", { exact: true }).waitFor();
	await text.getByRole("button", { name: "Ask for approval …" }).click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: "Ask for approval" })
		.click();
	await text.getByText("Pending approval", { exact: true }).waitFor();
	// Who neither wrote the version nor approves it gets no button.
	const reader = await served.openPageAs(
		await served.makePerson("member"),
		path,
	);
	await reader.getByText("Pending approval", { exact: true }).waitFor();
	expect(
		await reader.getByRole("button", { name: "Take back …" }).count(),
	).toBe(0);
	await reader.close();
	expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
	await list.reload();
	await row.getByText("1: Pending approval").waitFor();

	const other = await served.openPageAs(grace, `/o/${served.organizationId}`);
	const waiting = other.getByRole("region", { name: "Waiting for you" });
	await waiting.getByText("To approve").waitFor();
	await screenshot(other, "documents/home");
	await waiting.getByRole("link", { name: "Acceptable use" }).click();
	await other.getByRole("button", { name: "Reject …" }).click();
	await other.getByLabel("What has to change").fill("Name the printer");
	await other.getByRole("button", { name: "Reject", exact: true }).click();
	// The field shows the same words, so its end is what says that the answer is stored.
	await other.getByLabel("What has to change").waitFor({ state: "detached" });
	await other.getByText("Name the printer").waitFor();
	const { document_versions: versions } = await use("listDocumentVersions", {
		document_id: document.id,
	});
	const { id } = versions[0];
	await use("requestDocumentVersionApproval", {
		id,
	});
	await other.reload();
	await other.getByRole("button", { name: "Approve …" }).click();
	const approving = other.getByRole("dialog", { name: "Approve version 1?" });
	await approving.getByText("The text has a gap").waitFor();
	await approving.getByText("It still says [5].").waitFor();
	await axe(other);
	await other.getByRole("button", { name: "Approve", exact: true }).click();
	await other.getByText("Published", { exact: true }).waitFor();
	const offer = other.getByRole("dialog", { name: /^Version 1 is published/ });
	await offer.getByRole("button", { name: "Ask 2 people" }).waitFor();
	await axe(other);
	await screenshot(other, "documents/ask-after-publishing");
	await offer.getByRole("button", { name: "Not now" }).click();
	await offer.waitFor({ state: "hidden" });

	await page.reload();
	await text.getByText("Nobody is asked to sign this version.").waitFor();
	await text.getByRole("button", { name: "Ask people to sign" }).click();
	const dialog = page.getByRole("dialog", { name: "Ask people to sign" });
	await dialog.getByRole("combobox", { name: "People" }).click();
	await page.getByRole("option", { name: /Vera Rubin/ }).click();
	await page.keyboard.press("Escape");
	await dialog.getByRole("button", { name: "Ask 1 person" }).click();
	await text.getByText("0 of 1 signed").waitFor();
	await axe(page);

	const signer = await served.openPageAs(vera, path);
	const sign = signer.getByRole("button", { name: "Sign", exact: true });
	await sign.waitFor();
	expect(await sign.isDisabled()).toBe(true);
	await signer.getByLabel("I have read this version and follow it").check();
	await axe(signer);
	await screenshot(signer, "documents/sign");
	await sign.click();
	await signer.getByText(/^You signed version 1 on \d/).waitFor();
	await screenshot(signer, "documents/signed");
	await signer.getByText("1 of 1 signed").waitFor();
	await signer.getByText("Signed", { exact: true }).last().click();
	await signer.getByText(/^Signed in as /).waitFor();
	await signer.getByText(/^From the network address \S+$/).waitFor();

	await signer.getByRole("tab", { name: "History" }).click();
	const approval = signer.locator("dl > div", { hasText: "Approved" });
	await expect
		.poll(() => approval.innerText())
		.toMatch(
			/^Version 1: approval\s+Decision: Approved\s+Person: Grace Hopper$/,
		);
});

test("a template is stored only when it is saved, as the service fills it in", async () => {
	const { document } = await add("addDocument", {
		title: "Backups",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const page = await served.openPageAs(
		grace,
		`/o/${served.organizationId}/r/document/${document.id}`,
	);
	const text = page.getByRole("region", { name: "Text" });
	const choose = async (template: string) => {
		await text.getByRole("button", { name: "Start from a template" }).click();
		await page.getByRole("menuitem", { name: template }).click();
		await text.getByText(`This is the template “${template}”.`).waitFor();
	};
	const versions = async () =>
		(await use("listDocumentVersions", { document_id: document.id }))
			.document_versions;
	await choose("Remote work policy");
	await axe(page);
	await screenshot(page, "documents/template");
	await text.getByRole("button", { name: "Cancel" }).click();
	await text.getByText("This document has no text yet.").waitFor();
	await choose("Backup policy");
	expect(await versions()).toEqual([]);
	await text.getByRole("button", { name: "Save the text" }).click();
	await text.getByText(/^By .*, last changed/).waitFor();
	const [{ id }] = await versions();
	const saved = await use("getDocumentVersion", { id });
	expect(saved.document_version.content).toBe(
		await readDocumentTemplate("backup", "Acme"),
	);
});

test("writing the first text of a document opens the editor at once", async () => {
	const { document } = await add("addDocument", {
		title: "Clean desk",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const page = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/r/document/${document.id}`,
	);
	const text = page.getByRole("region", { name: "Text" });
	await text.getByRole("button", { name: "Write the text" }).click();
	const field = text.getByRole("textbox", { name: "Text", exact: true });
	await field.waitFor();
	const again = text.getByLabel(/^Ask those to sign again/);
	expect(await again.count()).toBe(0);
	// Nothing is stored until somebody saves it.
	const versions = async () =>
		(await use("listDocumentVersions", { document_id: document.id }))
			.document_versions;
	await text.getByRole("button", { name: "Cancel" }).click();
	await text.getByText("This document has no text yet.").waitFor();
	expect(await versions()).toEqual([]);
	await text.getByRole("button", { name: "Write the text" }).click();
	await field.click();
	await typeInto(field, "Clear your desk.");
	await text.getByRole("button", { name: "Save the text" }).click();
	await text.getByRole("button", { name: "Publish …" }).waitFor();
	const [first] = await versions();
	await use("publishDocumentVersion", { id: first.id });
	await page.reload();
	await text.getByRole("button", { name: "Draft a new version" }).click();
	await field.getByText("Clear your desk.").waitFor();
	await again.waitFor();
	await axe(page);
	expect(await versions()).toHaveLength(1);
	await field.click();
	await typeInto(field, "Every day. ");
	await text.getByRole("button", { name: "Save the text" }).click();
	await text.getByText(/^By .*, last changed/).waitFor();
	expect(await versions()).toMatchObject([
		{ version_number: 2, status: "DRAFT" },
		{ version_number: 1, status: "PUBLISHED" },
	]);
});

test("the author of a version hears before asking that an approver has to be somebody else", async () => {
	const author = await personOf(ada, "Ada Lovelace");
	const { document } = await add("addDocument", {
		title: "Clean desk",
		document_type: "POLICY",
		classification: "INTERNAL",
		approver_ids: [author],
	});
	await use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Clear your desk in the evening.",
	});
	const page = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/r/document/${document.id}`,
	);
	await page.getByRole("button", { name: "Ask for approval …" }).click();
	const dialog = page.getByRole("dialog");
	await dialog
		.getByText("Ada Lovelace wrote this version and cannot approve it.")
		.waitFor();
	const ask = dialog.getByRole("button", { name: "Ask for approval" });
	await expect.poll(() => ask.isDisabled()).toBe(true);
	await axe(page);
	await screenshot(page, "documents/author-approves");
	await dialog.getByRole("link", { name: "Change the approvers" }).click();
	await page.getByRole("heading", { name: "Edit Clean desk" }).waitFor();
});
