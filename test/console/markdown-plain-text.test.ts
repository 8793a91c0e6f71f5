import { expect, test } from "vitest";
import { plainTextOf } from "../../console/src/parts/markdown/plain-text.ts";
import { readDocument } from "../../console/src/parts/markdown/tokens.ts";

test("Markdown becomes text without marks, and keeps what people read", () => {
	const text = plainTextOf(
		readDocument(
			[
				"# Screens\n\nLock it **twice**, *each*\nday, ~~never~~ with `Win+L`.",
				"- one\n- two\n  1. deeper\n- [x] done",
				"> Quoted\n> words",
				"---",
				"| a | b |\n|---|---|\n| **1** | 2 |",
				"See [the rules](https://example.com/rules), https://example.com and 1 \\* 2.",
				"```\n# no heading\n```",
				"<b>shown</b>",
			].join("\n\n"),
		),
	);
	expect(text).toBe(
		[
			"Screens\n\nLock it twice, each day, never with Win+L.",
			"• one\n• two\n  \n  1. deeper\n[x] done",
			"  Quoted words",
			"———",
			"a | b\n1 | 2",
			"See the rules (https://example.com/rules), https://example.com and 1 * 2.",
			"# no heading",
			"<b>shown</b>",
		].join("\n\n"),
	);
});
