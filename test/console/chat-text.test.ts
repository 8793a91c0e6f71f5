import { expect, test } from "vitest";
import { chatText } from "../../console/src/pages/settings/chat-text.ts";
import { chatPayload } from "../../src/notifications/chat-payloads.ts";

const news = {
	title: "2 checks fail & wait",
	lines: ["Disk encryption on <nb-1>", "Screen lock on *nb-2*"],
	url: "https://assay.example.com/o/1",
};

test("the last messages of a channel are shown as the text that people read, not as JSON", () => {
	const slack = JSON.stringify(chatPayload("SLACK", news));
	expect(chatText(slack)).toBe(
		"2 checks fail & wait\n• Disk encryption on <nb-1>\n• Screen lock on *nb-2*",
	);
	const teams = JSON.stringify(chatPayload("TEAMS", news));
	expect(chatText(teams).split("\n")).toEqual([news.title, ...news.lines]);
	const linked = {
		...news,
		lines: [
			{ text: "Overdue <tasks> (2)", url: `${news.url}/r/task?due=overdue` },
		],
	};
	for (const kind of ["SLACK", "TEAMS"] as const) {
		expect(chatText(JSON.stringify(chatPayload(kind, linked)))).toContain(
			"Overdue <tasks> (2) [Open the list](https://assay.example.com/o/1/r/task?due=overdue)",
		);
	}
	expect(chatText("A mail in plain text")).toBe("A mail in plain text");
	expect(chatText('{"other": 1}')).toBe('{"other": 1}');
});
