import { expect, test } from "vitest";
import { chatPayload } from "../../src/notifications/chat-payloads.ts";

const URL = "https://assay.example/o/1";

test("the longest message stays within the limits of Slack and Teams", () => {
	for (const letter of ["&", "*", '"', "机", "👩"]) {
		const lines = Array.from({ length: 20 }, () => letter.repeat(1_000));
		const news = { title: letter.repeat(300), lines, url: URL };
		// learn.microsoft.com: a message to Teams has at most 28 KB.
		const teams = JSON.stringify(chatPayload("TEAMS", news));
		expect(Buffer.byteLength(teams)).toBeLessThan(28_000);
		expect(teams.isWellFormed()).toBe(true);
		// docs.slack.dev: 50 blocks, 150 characters in a header, 3,000 in a section.
		const { blocks } = chatPayload("SLACK", news) as {
			blocks: { type: string; text?: { text: string } }[];
		};
		expect(blocks.length).toBeLessThanOrEqual(50);
		for (const { type, text } of blocks) {
			const max = type === "header" ? 150 : 3_000;
			expect(text?.text.length ?? 0).toBeLessThanOrEqual(max);
		}
	}
});

test("a message to Teams says that it leaves out lines, and an ordinary one has them all", () => {
	const textOf = (lines: string[]) =>
		JSON.stringify(chatPayload("TEAMS", { title: "Acme", lines, url: URL }));
	const long = textOf(Array.from({ length: 20 }, () => "机".repeat(590)));
	expect(long).toContain("There is more.");
	const usual = textOf(["one", "two"]);
	expect(usual).toContain("two");
	expect(usual).not.toContain("There is more.");
});
