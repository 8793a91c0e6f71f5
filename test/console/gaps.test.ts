import { expect, test } from "vitest";
import { gapsIn } from "../../console/src/pages/registers/documents/find-gaps.ts";
import { DOCUMENT_TEMPLATE_KEYS } from "../../src/starters/document-template-names.ts";
import { readDocumentTemplate } from "../../src/starters/document-templates.ts";

test("the gaps of a policy template are found, each once", async () => {
	const text = await readDocumentTemplate("acceptable-use", "Northwind");
	const gaps = gapsIn(text);
	expect(gaps).toContain("[contact]");
	expect(new Set(gaps).size).toBe(gaps.length);
});

test.each(
	DOCUMENT_TEMPLATE_KEYS,
)("all brackets of the template %s are found, also those of numbers", async (key) => {
	const text = await readDocumentTemplate(key, "Northwind");
	expect(gapsIn(text)).toEqual([...new Set(text.match(/\[[^\]]+\]/g))]);
});

test("a number is a gap, also as older versions of the editor wrote it", () => {
	expect(
		gapsIn(
			"**[5]** minutes, \\[7\\] days, $[10], ([3]), \\[IT\\]: call.\n[HR]: ask first",
		),
	).toEqual(["[5]", "[7]", "[10]", "[3]", "[IT]", "[HR]"]);
});

test("a footnote, a cited source and a link by its name are no gaps", () => {
	expect(
		gapsIn(
			'As shown[1], and here.[^2] See [3], [the law][law] and [law].\n\n[^2]: A note.\n[3]: https://example.com\n[law]: <https://example.com> "The law"',
		),
	).toEqual([]);
});

test("a link and the box of a task are no gaps", () => {
	expect(
		gapsIn("See [the guide](https://example.com).\n- [ ] a\n- [x] b"),
	).toEqual([]);
});
