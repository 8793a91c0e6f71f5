import type { ChatKind } from "./channel-kinds.ts";
import type { Line, News } from "./news.ts";

/** Slack's limits for a header and for the text of a section. */
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;

/** Longest line. Escaped for Slack, a line has at most five times as many characters. */
const MAX_LINE = 590;

/** The same for a line with a link, whose address is not escaped so much. */
const MAX_LINKED_LINE = 490;

/** Most bytes of the lines in a message to Teams, which accepts 28 KB. */
const MAX_TEAMS_BYTES = 25_000;

/** Makes the body of the request that shows news in a chat. */
export function chatPayload(kind: ChatKind, news: News): object {
	const lines = news.lines.map((line) =>
		typeof line === "string"
			? cut(line, MAX_LINE)
			: { ...line, text: cut(line.text, MAX_LINKED_LINE) },
	);
	return kind === "SLACK"
		? slackPayload({ ...news, lines })
		: teamsPayload({ ...news, lines });
}

/**
 * Slack shows the blocks, and the text in notices on a phone. Mattermost and other compatible
 * programs show the text. A section takes 3,000 characters.
 */
function slackPayload({ title, lines, url }: News): object {
	const sections = [""];
	for (const line of lines.map(slackLine)) {
		const last = sections.length - 1;
		const longer = sections[last] ? `${sections[last]}\n${line}` : line;
		if (longer.length <= MAX_SECTION) sections[last] = longer;
		else sections.push(line);
	}
	const mrkdwn = (text: string) => ({ type: "mrkdwn", text });
	return {
		text: [escapeSlack(title), ...sections].join("\n"),
		blocks: [
			{
				type: "header",
				text: { type: "plain_text", text: cut(title, MAX_HEADER) },
			},
			...sections.map((text) => ({ type: "section", text: mrkdwn(text) })),
			{ type: "context", elements: [mrkdwn(`<${url}|Open Assay>`)] },
		],
	};
}

function slackLine(line: Line): string {
	if (typeof line === "string") return `• ${escapeSlack(line)}`;
	const { text, url } = line;
	return `• ${escapeSlack(text)} <${escapeSlack(url)}|Open the list>`;
}

/** Slack's control characters. Without this, a name such as <!channel> would call everybody. */
function escapeSlack(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;");
}

/** The form that the Teams workflow "When a Teams webhook request is received" takes. */
function teamsPayload({ title, lines, url }: News): object {
	const block = (text: string) => ({ type: "TextBlock", text, wrap: true });
	const blocks = lines.map((line) =>
		block(
			typeof line === "string"
				? escapeMarkdown(line)
				: `${escapeMarkdown(line.text)} [Open the list](${line.url})`,
		),
	);
	let bytes = 0;
	const fitting = blocks.filter((one) => {
		bytes += Buffer.byteLength(JSON.stringify(one));
		return bytes <= MAX_TEAMS_BYTES;
	});
	if (fitting.length < blocks.length) {
		fitting.push(block("There is more. Open Assay to see it."));
	}
	return {
		type: "message",
		attachments: [
			{
				contentType: "application/vnd.microsoft.card.adaptive",
				contentUrl: null,
				content: {
					$schema: "http://adaptivecards.io/schemas/adaptive-card.json",
					type: "AdaptiveCard",
					version: "1.4",
					body: [
						{
							...block(escapeMarkdown(title)),
							weight: "Bolder",
							size: "Medium",
						},
						...fitting,
					],
					actions: [{ type: "Action.OpenUrl", title: "Open Assay", url }],
				},
			},
		],
	};
}

/** A card shows a part of Markdown. A name must not become a link or a mention. */
function escapeMarkdown(text: string): string {
	return text.replace(/[\\`*_[\]<>]/g, "\\$&");
}

function cut(text: string, max: number): string {
	if (text.length <= max) return text;
	return `${text.slice(0, max - 1).toWellFormed()}…`;
}
