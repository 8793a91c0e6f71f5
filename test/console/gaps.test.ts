import { expect, test } from "vitest";
import { gapsIn } from "../../console/src/pages/registers/documents/find-gaps.ts";
import { readDocumentTemplate } from "../../src/starters/document-templates.ts";

test("the gaps of a policy template are found, each once", async () => {
	const text = await readDocumentTemplate("acceptable-use", "Northwind");
	const gaps = gapsIn(text);
	expect(gaps).toContain("[contact]");
	expect(new Set(gaps).size).toBe(gaps.length);
});

test("a link and the box of a task are no gaps", () => {
	expect(
		gapsIn("See [the guide](https://example.com).\n- [ ] a\n- [x] b"),
	).toEqual([]);
});
