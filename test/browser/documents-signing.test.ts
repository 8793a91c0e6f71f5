import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSignToken } from "../../src/documents/sign-link.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

const SECRET = "a secret of at least thirty-two characters";

let served: TestConsole;
let ada: TestUser;
let grace: TestUser;
beforeAll(async () => {
	served = await startConsole({ ASSAY_SECRET: SECRET });
	ada = await served.makePerson("admin");
	grace = await served.makePerson("member");
});
afterAll(() => served.close());

function use(name: string, input: object) {
	return callByName(served.database, ada, name, input);
}
const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

test("whoever publishes a version asks all employees to sign it with one click", async () => {
	const { document } = await add("addDocument", {
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	await add("addPeople", {
		full_name: "Emmy Noether",
		kind: "EMPLOYEE",
		primary_email_address: "emmy@example.com",
	});
	await add("addPeople", {
		full_name: "Left long ago",
		kind: "EMPLOYEE",
		primary_email_address: "left@example.com",
		contract_end_date: "2020-01-01",
	});
	await use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Visitors wear a badge.",
	});
	const page = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/r/document/${document.id}`,
	);
	await page.getByRole("button", { name: "Publish …" }).click();
	await page.getByRole("button", { name: "Publish", exact: true }).click();
	const offer = page.getByRole("dialog", { name: /^Version 1 is published/ });
	const ask = offer.getByRole("button", { name: /^Ask \d+ pe/ });
	await ask.waitFor();
	const count = Number(/\d+/.exec(await ask.innerText())?.[0]);
	await ask.click();
	await page.getByText(`0 of ${count} signed`).waitFor();
	const { document_versions: versions } = await use("listDocumentVersions", {
		document_id: document.id,
	});
	const { document_version_signatures: asked } = await use(
		"listDocumentVersionSignatures",
		{ document_version_id: versions[0].id, size: 100 },
	);
	const names = asked.map(
		({ signer_name }: { signer_name: string }) => signer_name,
	);
	expect(names).toContain("Emmy Noether");
	expect(names).not.toContain("Left long ago");
});

test("somebody without an account reads and signs by the link of a mail", async () => {
	const otto = await callByName(served.database, grace, "addPeople", {
		organization_id: served.organizationId,
		full_name: "Otto Hahn",
		kind: "CONTRACTOR",
		primary_email_address: "otto@example.com",
	});
	const { document } = await add("addDocument", {
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version } = await use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "# Badges\n\nVisitors wear a badge.",
	});
	await use("publishDocumentVersion", { id: document_version.id });
	await use("requestDocumentVersionSignature", {
		document_version_id: document_version.id,
		person_ids: [otto.people.id],
	});
	const { document_version_signatures: signatures } = await use(
		"listDocumentVersionSignatures",
		{ document_version_id: document_version.id },
	);
	const request = {
		organizationId: served.organizationId,
		signatureId: signatures[0].id,
	};
	const token = makeSignToken(SECRET, request, "otto@example.com");
	const page = await served.openPage({ viewport: { width: 390, height: 844 } });
	await page.goto(`/sign-document#${token}`);
	await page.getByRole("heading", { name: "A document to sign" }).waitFor();
	await axe(page);
	await page.getByRole("button", { name: "Show the document" }).click();
	await page.getByRole("heading", { name: "Badges" }).waitFor();
	const sign = page.getByRole("button", { name: "Sign", exact: true });
	expect(await sign.isDisabled()).toBe(true);
	await page.getByLabel("I have read this version and follow it").check();
	await axe(page);
	await screenshot(page, "documents/sign-by-link");
	await sign.click();
	await page.getByRole("status").getByText("Otto Hahn").waitFor();
	const list = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/r/document/${document.id}`,
	);
	await list.getByText("1 of 1 signed").waitFor();
	await list.getByText("Signed", { exact: true }).last().click();
	await list
		.getByText(
			new RegExp(
				`^By a link mailed to otto@example.com, an address that ${grace.name} set on .+$`,
			),
		)
		.waitFor();
	await list.getByText("Check the address").waitFor();
	await axe(list);
	await screenshot(list, "documents/check-the-address");
	await page.goto(`/sign-document#${token.slice(0, -3)}AAA`);
	await page.reload();
	await page.getByRole("button", { name: "Show the document" }).click();
	await page.getByText(/ask for a new one/).waitFor();
});

test("the console says before publishing that requests to sign end, and shows them as no longer needed", async () => {
	const { people } = await add("addPeople", {
		full_name: "Lise Meitner",
		kind: "EMPLOYEE",
		primary_email_address: "lise@example.com",
	});
	const { document } = await add("addDocument", {
		title: "Clean desk",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const draft = async (content: string): Promise<string> =>
		(
			await use("createDraftDocumentVersion", {
				document_id: document.id,
				content,
			})
		).document_version.id;
	const first = await draft("Clear your desk.");
	await use("publishDocumentVersion", { id: first });
	await use("requestDocumentVersionSignature", {
		document_version_id: first,
		person_ids: [people.id],
	});
	await draft("Clear your desk in the evening.");
	const page = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/r/document/${document.id}`,
	);
	await page.getByRole("button", { name: "Publish …" }).click();
	const dialog = page.getByRole("dialog", { name: "Publish version 2?" });
	await dialog
		.getByText(
			/^It replaces version 1\. 1 person has not signed it, and is no longer asked to\./,
		)
		.waitFor();
	await axe(page);
	await screenshot(page, "documents/requests-end");
	await dialog.getByRole("button", { name: "Publish", exact: true }).click();
	const offer = page.getByRole("dialog", { name: /^Version 2 is published/ });
	await offer.getByRole("button", { name: "Not now" }).click();
	await offer.waitFor({ state: "hidden" });
	await page.goto(`${new URL(page.url()).pathname}?show=${first}`);
	await page.getByText("Nobody signed, and 1 no longer needs to").waitFor();
	const row = page.getByRole("row", { name: /Lise Meitner/ });
	await row.getByText("No longer needed").waitFor();
	await row.getByText("A newer version is in force").waitFor();
	expect(await row.getByRole("button").allInnerTexts()).toEqual(["Withdraw"]);
	expect(
		await page.getByRole("button", { name: "Ask people to sign" }).count(),
	).toBe(0);
	await axe(page);
	await screenshot(page, "documents/no-longer-needed");
});
