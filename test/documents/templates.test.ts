import { lexer, walkTokens } from "marked";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	DOCUMENT_TEMPLATE_KEYS,
	DOCUMENT_TEMPLATES,
} from "../../src/starters/document-template-names.ts";
import { readDocumentTemplate } from "../../src/starters/document-templates.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

test.each(
	DOCUMENT_TEMPLATE_KEYS,
)("the template %s has its title, sections and rules, and no HTML", async (key) => {
	const text = await readDocumentTemplate(key, "Acme");
	const tokens = lexer(text);
	const types: string[] = [];
	walkTokens(tokens, ({ type }) => {
		types.push(type);
	});
	const headings = tokens.filter(({ type }) => type === "heading");
	expect(headings[0]).toMatchObject({
		depth: 1,
		text: DOCUMENT_TEMPLATES[key],
	});
	expect(headings.length).toBeGreaterThan(4);
	expect(types).not.toContain("html");
	expect(text.split(/\s+/).length).toBeGreaterThan(300);
	expect(text).toContain("Acme");
	expect(text).not.toContain("[Company]");
});

test("a name with signs of Markdown is shown as it is", async () => {
	const text = await readDocumentTemplate("backup", "A*B_[C](x) <b> $&");
	expect(text).toContain("A\\*B\\_\\[C\\](x) \\<b\\> $& can get");
});

test("a draft begins with a template, and not with a text too", async () => {
	const { document } = await tools.use("addDocument", {
		organization_id: tools.organizationId,
		title: "Backups",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const draft = (input: object) =>
		tools.call("createDraftDocumentVersion", {
			document_id: document.id,
			...input,
		});
	const both = await draft({ template: "backup", content: "x" });
	expect([both.status, both.body.fields[0].field]).toEqual([400, "template"]);
	const unknown = await draft({ template: "cooking" });
	expect([unknown.status, unknown.body.message]).toEqual([
		400,
		expect.stringContaining("information-security"),
	]);
	const { body }: Json = await draft({ template: "backup" });
	expect(body.document_version.content).toContain("# Backup policy");
});
