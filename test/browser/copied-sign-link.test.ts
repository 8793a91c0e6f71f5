import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { partsOf, readPdf, wordsOf } from "../support/read-pdf.ts";
import { partOf, textsIn } from "../support/read-word.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { pressEscape } from "./settled.ts";

let served: TestConsole;
let ada: TestUser;
let vera: TestUser;
beforeAll(async () => {
	served = await startConsole();
	ada = await served.makePerson("admin");
	vera = await served.makePerson("viewer");
	await addPerson("Vera Rubin", vera.email);
	await addPerson("Otto Hahn", "otto@example.com");
	await addPerson("Emmy Noether", "emmy@example.com");
});
afterAll(() => served.close());

const use = (name: string, input: object) =>
	callByName(served.database, ada, name, input);
const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });
const addPerson = (full_name: string, primary_email_address: string) =>
	add("addPeople", { full_name, kind: "EMPLOYEE", primary_email_address });

/** Drafts a version, and returns the address of the document's page. */
async function draft(classification: string): Promise<string> {
	const { document } = await add("addDocument", {
		title: "Visitors",
		document_type: "POLICY",
		classification,
	});
	await use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "# Badges\n\nVisitors wear a badge.",
	});
	return `/o/${served.organizationId}/r/document/${document.id}`;
}

test("without a mail server, the console says who needs a link, and a copied one signs and says so", async () => {
	const page = await served.openPageAs(ada, await draft("INTERNAL"));
	await page.getByRole("button", { name: "Publish …" }).click();
	await page.getByRole("button", { name: "Publish", exact: true }).click();
	const offer = page.getByRole("dialog", { name: /^Version 1 is published/ });
	await offer.getByText(/^1 person has an account and finds/).waitFor();
	await offer
		.getByText(/^2 people have no account and get no mail/)
		.first()
		.waitFor();
	await axe(page);
	await screenshot(page, "documents/ask-without-mail");
	await offer.getByRole("button", { name: "Ask 3 people" }).click();
	await page.getByText(/^3 people are asked\. The list shows how/).waitFor();

	const list = page.getByRole("region", { name: "Signatures" }).first();
	const otto = list.getByRole("row", { name: /Otto Hahn/ });
	await otto.getByText("No account and no mail: copy a link").waitFor();
	// Vera is a viewer, so nothing tells her to copy a link.
	const read = await served.openPageAs(vera, new URL(page.url()).pathname);
	const hers = read.getByRole("row", { name: /Otto Hahn/ });
	await hers.getByText("No account and no mail", { exact: true }).waitFor();
	const veras = list.getByRole("row", { name: /Vera Rubin/ });
	await veras.getByText("Has an account").waitFor();
	expect(await veras.getByRole("button", { name: /^Copy link/ }).count()).toBe(
		0,
	);
	await axe(page);
	await screenshot(page, "documents/signatures-without-mail");
	await otto.getByRole("button", { name: /^Copy link to sign/ }).click();
	const dialog = page.getByRole("dialog", {
		name: "A link with which Otto Hahn signs",
	});
	await dialog.getByText(/came by a link that you made/).waitFor();
	await axe(page);
	await screenshot(page, "documents/copy-sign-link");
	await dialog.getByRole("button", { name: "Make a link to copy" }).click();
	const link = dialog.getByLabel("Link to sign", { exact: true });
	await link.waitFor();
	await dialog.getByText("Only this computer can open this address.").waitFor();
	const address = new URL(await link.innerText());
	await axe(page);
	await screenshot(page, "documents/copied-sign-link");
	await dialog.getByRole("button", { name: "I have copied it" }).click();
	await otto.getByText(/^Link copied by/).waitFor();
	await expect
		.poll(() => otto.getByRole("button").allInnerTexts())
		.toEqual(["Copy link to sign", "Withdraw"]);
	await otto
		.getByRole("button", { name: "Withdraw the request to Otto Hahn" })
		.click();
	const question = page.getByRole("dialog", {
		name: "Withdraw the request to Otto Hahn?",
	});
	await question.getByRole("button", { name: "Cancel" }).click();

	const signer = await served.openPage({
		viewport: { width: 390, height: 844 },
	});
	await signer.goto(`${address.pathname}${address.hash}`);
	await signer.getByRole("button", { name: "Show the document" }).click();
	await signer
		.getByText(new RegExp(`${ada.name} passed this link on to you`))
		.waitFor();
	await signer.getByLabel("I have read this version and follow it").check();
	await axe(signer);
	await signer.getByRole("button", { name: "Sign", exact: true }).click();
	await signer.getByRole("status").getByText("Otto Hahn").waitFor();

	await page.reload();
	await page.getByText("1 of 3 signed").waitFor();
	await list.getByText("Signed", { exact: true }).click();
	await list
		.getByText(new RegExp(`^By a link that ${ada.name} copied$`))
		.waitFor();

	await page.getByRole("tab", { name: "History" }).click();
	await page
		.getByRole("tabpanel", { name: "History" })
		.getByText(/by Otto Hahn, by a link$/)
		.waitFor();
	// The entry has ids, and the page shows the names of today.
	await page
		.getByRole("tabpanel", { name: "History" })
		.getByText(/^People: .*Otto Hahn/)
		.first()
		.waitFor();
	const log = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/settings/audit-log?operation=signDocumentByLink`,
	);
	const entry = log.getByRole("row").filter({ hasText: "By a copied link" });
	await entry.getByRole("link", { name: "Otto Hahn" }).waitFor();
	expect(await entry.innerText()).not.toMatch(/System|asked to sign/);
	await entry.getByRole("button", { name: /^Sign document/ }).click();
	const details = log.getByRole("dialog", { name: /^Sign document/ });
	await details.getByText("Person: Otto Hahn").waitFor();
	await axe(log);
	await screenshot(log, "documents/audit-sign-link");
	await details.getByRole("link", { name: "Otto Hahn" }).click();
	await log.getByRole("heading", { name: "Otto Hahn", level: 1 }).waitFor();
	await page.getByRole("tab", { name: "Overview" }).click();

	// The files say the same as the page.
	const saved = async (form: string) => {
		await page.getByRole("button", { name: "Export" }).click();
		const [download] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("menuitem", { name: form }).click(),
		]);
		const { SAVED } = process.env;
		if (SAVED)
			await download.saveAs(`${SAVED}/${download.suggestedFilename()}`);
		return readFile(await download.path());
	};
	const { pages } = await readPdf(await saved("PDF"));
	const cells = pages.flatMap((one) => partsOf(one, /^T[HD]$/)).map(wordsOf);
	expect(cells).toContain("1 of 3 signed");
	const way = `By a link that ${ada.name} copied`;
	expect(cells.slice(-6)).toEqual([
		...["Person", "Signed", "How"],
		...["Otto Hahn", expect.stringMatching(/\d:\d\d:\d\d/), way],
	]);
	const word = textsIn(partOf(await saved("Word"), "word/document.xml"));
	expect(word).toContain("1 of 3 signed");
	expect(word.slice(-2)).toEqual([
		"Otto Hahn: ",
		expect.stringMatching(new RegExp(`, ${way}$`)),
	]);
});

test("a person without an account who has to sign a secret document is invited from the list", async () => {
	const page = await served.openPageAs(ada, await draft("SECRET"));
	await page.getByRole("button", { name: "Publish …" }).click();
	await page.getByRole("button", { name: "Publish", exact: true }).click();
	const offer = page.getByRole("dialog", { name: /^Version 1 is published/ });
	await offer
		.getByText(/^2 people have no account and cannot sign/)
		.first()
		.waitFor();
	await offer.getByRole("button", { name: "Ask 3 people" }).click();
	const row = page.getByRole("row", { name: /Emmy Noether/ });
	await row.getByText(/no link shows a secret document/).waitFor();
	expect(await row.getByRole("button", { name: /^Copy link/ }).count()).toBe(0);
	await row.getByRole("button", { name: /^Invite Emmy/ }).click();
	const invitation = page.getByRole("dialog", { name: "Invite a member" });
	const field = invitation.getByRole("textbox", { name: /E-mail address/ });
	await expect.poll(() => field.inputValue()).toBe("emmy@example.com");
	await axe(page);
	await invitation.getByRole("button", { name: "Invite", exact: true }).click();
	await page
		.getByRole("dialog", { name: "Send the invitation link" })
		.waitFor();
	const { invitations } = await add("listInvitations", {});
	expect(invitations).toMatchObject([
		{ email: "emmy@example.com", role: "viewer" },
	]);
});

test("all links are made at once, copied as text and saved as CSV without formulas", async () => {
	const path = await draft("INTERNAL");
	const { document_versions } = await use("listDocumentVersions", {
		document_id: path.split("/").at(-1),
	});
	const [{ id }] = document_versions;
	await use("publishDocumentVersion", { id });
	const ask = (person_ids: string[]) =>
		use("requestDocumentVersionSignature", {
			document_version_id: id,
			person_ids,
		});
	const people: Record<string, string> = {};
	for (const [name, email] of [
		["=HYPERLINK(1)", "formula@example.com"],
		["Lise Meitner", "lise@example.com"],
	] as const) {
		people[name] = (await addPerson(name, email)).people.id;
	}
	await ask([people["Lise Meitner"] ?? ""]);
	const page = await served.openPageAs(ada, path);
	const list = page.getByRole("region", { name: "Signatures" }).first();
	await list.getByRole("row", { name: /Lise Meitner/ }).waitFor();
	const all = list.getByRole("button", { name: "Copy all links to sign" });
	expect(await all.count()).toBe(0);
	await ask([people["=HYPERLINK(1)"] ?? ""]);
	await page.reload();
	await all.click();
	const dialog = page.getByRole("dialog");
	await dialog.getByText(/came by a link that you made/).waitFor();
	await axe(page);
	await screenshot(page, "documents/copy-all-sign-links");
	await dialog.getByRole("button", { name: "Make the links" }).click();
	const links = dialog.getByLabel("Links to sign", { exact: true });
	await links.waitFor();
	const lines = (await links.innerText()).trim().split("\n");
	const begin = "/sign-document#";
	expect(lines).toEqual([
		"=HYPERLINK(1) <formula@example.com>",
		expect.stringContaining(begin),
		"Lise Meitner <lise@example.com>",
		expect.stringContaining(begin),
	]);
	await axe(page);
	await screenshot(page, "documents/copied-all-sign-links");
	// Closing asks first, because nobody can show the links again.
	await pressEscape(dialog);
	await dialog.getByText("The links are lost when you close").waitFor();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		dialog.getByRole("button", { name: "Save the links as CSV" }).click(),
	]);
	expect(await readFile(await download.path(), "utf8")).toBe(
		`\ufeffname,email,link\r\n'=HYPERLINK(1),formula@example.com,${lines[1]}\r\nLise Meitner,lise@example.com,${lines[3]}\r\n`,
	);
	await dialog.getByRole("button", { name: "I have saved them" }).click();
	await expect.poll(() => list.getByText(/^Link copied by/).count()).toBe(2);
	await page.setViewportSize({ width: 390, height: 844 });
	await all.click();
	await axe(page);
	await screenshot(page, "documents/copy-all-sign-links-narrow");
	await dialog.getByRole("button", { name: "Cancel" }).click();
});

test("with a mail server, the console says who gets a link by mail and when it was sent", async () => {
	const sink = await openSmtpSink();
	const mailing = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	// The pages close first, because these callbacks run in reverse.
	onTestFinished(async () => {
		await mailing.close();
		sink.close();
	});
	const admin = await mailing.makePerson("admin");
	const here = { organization_id: mailing.organizationId };
	const call = (name: string, input: object) =>
		callByName(mailing.database, admin, name, input);
	await call("addPeople", {
		...here,
		full_name: "Otto Hahn",
		kind: "EMPLOYEE",
		primary_email_address: "otto@example.com",
	});
	const { document } = await call("addDocument", {
		...here,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version } = await call("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Visitors wear a badge.",
	});
	await call("publishDocumentVersion", { id: document_version.id });
	const page = await mailing.openPageAs(
		admin,
		`/o/${mailing.organizationId}/r/document/${document.id}`,
	);
	await page.getByRole("button", { name: "Ask people to sign" }).click();
	const dialog = page.getByRole("dialog", { name: "Ask people to sign" });
	await dialog.getByLabel(/^All employees/).check();
	await dialog
		.getByText(/^1 person has no account and gets a link by mail\./)
		.waitFor();
	await screenshot(page, "documents/ask-with-mail");
	await dialog.getByRole("button", { name: "Ask 1 person" }).click();
	const row = page.getByRole("row", { name: /Otto Hahn/ });
	await row.getByText("No account, and no mail was sent").waitFor();
	await mailing.database.owner.query("update mails set due_at = now()");
	mailing.service.wake();
	expect((await sink.next()).to).toBe("otto@example.com");
	await expect
		.poll(async () => {
			await page.reload();
			await row.waitFor();
			return row.getByText(/^No account: link by mail sent/).count();
		})
		.toBe(1);
	await axe(page);
	await screenshot(page, "documents/signatures-with-mail");
	await row.getByRole("button", { name: "Remind Otto Hahn" }).click();
	await page
		.getByText(
			"Not reminded: the person was asked or reminded in the last hour.",
		)
		.waitFor();
	await mailing.database.owner.query(
		"update document_signatures set requested_at = now() - interval '2 days'",
	);
	await page.getByRole("button", { name: "Remind all" }).click();
	const question = page.getByRole("dialog", {
		name: "Remind all who have not signed?",
	});
	await question
		.getByText(/^1 person has not signed and gets the mail/)
		.waitFor();
	await axe(page);
	await question.getByRole("button", { name: "Send the mails" }).click();
	await row.getByText(/^Reminded /).waitFor();
	await mailing.database.owner.query(
		"update mails set due_at = now() where state = 'QUEUED' and attempts = 0",
	);
	mailing.service.wake();
	expect((await sink.next()).text).toContain("Reminder: a document waits");
});
