import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { partsOf, readPdf, wordsOf } from "../support/read-pdf.ts";
import { zoneOfAnotherDay } from "../support/zone-of-another-day.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
let ada: TestUser;
beforeAll(async () => {
	served = await startConsole();
	ada = await served.makePerson("admin");
});
afterAll(() => served.close());

function use(name: string, input: object) {
	return callByName(served.database, ada, name, input);
}
const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

test("a version is exported as PDF, Word and Markdown, and compared with the one before", async () => {
	const { document } = await add("addDocument", {
		title: "Remote work",
		document_type: "POLICY",
		classification: "CONFIDENTIAL",
	});
	const draft = async (content: string) => {
		const { document_version } = await use("createDraftDocumentVersion", {
			document_id: document.id,
			content,
		});
		await use("publishDocumentVersion", { id: document_version.id });
	};
	const text =
		"# Screens\n\nLock **every** screen. See [the site](https://example.com).\n\n1. at home\n   - in the garden\n2. on the train\n\n> Always.\n\n| Place | Rule |\n|---|---|\n| Café | `VPN` |\n\n---\n\n```\nlock now\n```\n\nПривет, κόσμε\n\nשלום → 你\n";
	await draft(text);
	await draft(`${text}\nLock it *twice*.`.replace("at home", "in the office"));
	const { zone: timeZone } = zoneOfAnotherDay(new Date().toISOString());
	await add("updateOrganizationSettings", { time_zone: timeZone });
	const { document_versions } = await use("listDocumentVersions", {
		document_id: document.id,
	});
	const page = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/r/document/${document.id}`,
	);
	const problems: string[] = [];
	page.on("pageerror", (error) => problems.push(error.message));
	page.on("console", (line) => {
		if (line.type() === "error") problems.push(line.text());
	});
	const region = page.getByRole("region", { name: "Text", exact: true });
	const saved = async (form: string) => {
		await region.getByRole("button", { name: "Export" }).click();
		const [download] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("menuitem", { name: form }).click(),
		]);
		const file = await readFile(await download.path());
		const { SAVED } = process.env;
		if (SAVED)
			await writeFile(`${SAVED}/${download.suggestedFilename()}`, file);
		return { name: download.suggestedFilename(), file };
	};
	const pdf = await saved("PDF");
	expect(pdf.name).toBe("Remote work v2.pdf");
	const warning = page.getByText(
		/^It cannot show some characters of this text, such as “.?ש.?”, “.?ל.?”, “.?ו.?”, and has “�” in their place. Save the version as Word/u,
	);
	await warning.waitFor();
	await screenshot(page, "documents/export-lacks-characters");
	await page.getByRole("button", { name: "Dismiss" }).click();
	await warning.waitFor({ state: "detached" });
	const { info, pages } = await readPdf(pdf.file);
	expect(info).toMatchObject({ title: "Remote work", isMarked: true });
	expect(partsOf(pages[0], /^H1$/).map(wordsOf)).toEqual([
		"Remote work",
		"Screens",
	]);
	expect(partsOf(pages.at(-1), /^TH$/).map(wordsOf)).toContain("Version");
	const day = new Intl.DateTimeFormat("en-GB", {
		dateStyle: "medium",
		timeZone,
	}).format(new Date(document_versions[0].published_at));
	expect(wordsOf(pages.at(-1))).toContain(`${day} by `);
	expect(pdf.file.toString("latin1")).toContain("https://example.com");
	const docx = await saved("Word");
	expect(docx.name).toBe("Remote work v2.docx");
	expect(docx.file.subarray(0, 2).toString()).toBe("PK");
	expect(docx.file.toString("latin1")).toContain("word/document.xml");
	const markdown = await saved("Markdown");
	expect(markdown.file.toString()).toContain("Lock it *twice*.");

	await region.getByRole("button", { name: "Compare" }).click();
	const difference = region.getByRole("region", {
		name: "From version 1 to version 2",
	});
	await difference.getByRole("deletion").getByText("home").waitFor();
	await difference.getByRole("insertion").getByText("office").waitFor();
	await difference.getByText("Lock it twice.").waitFor();
	await axe(page);
	await screenshot(page, "documents/compare");
	await region.getByRole("button", { name: "Show the text" }).click();
	await region.getByRole("heading", { name: "Screens" }).waitFor();
	// The buttons of a draft stay while it is compared, and "Edit the text" leads to the editor.
	await use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Lock it.",
	});
	await page.reload();
	await region.getByRole("button", { name: "Compare" }).click();
	await region.getByRole("combobox", { name: "Compare with" }).waitFor();
	await region.getByRole("button", { name: "Publish …" }).waitFor();
	await region.getByRole("button", { name: "Edit the text" }).click();
	await region.getByRole("button", { name: "Save the text" }).waitFor();
	expect(problems).toEqual([]);
});
