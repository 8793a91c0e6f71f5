/** Slack escapes these three characters, and has a form of its own for links. */
const withoutEscapes = (text: string) =>
	text
		.replace(/<(https?:[^|<>]*)\|([^|<>]*)>/g, "[$2]($1)")
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&amp;", "&");

/** Returns the text that people see in a message to a chat. A mail is text already. */
export function chatText(body: string): string {
	try {
		const { text, attachments } = JSON.parse(body);
		if (typeof text === "string") return withoutEscapes(text);
		const blocks = attachments[0].content.body as { text: string }[];
		return blocks
			.map((block) => block.text.replace(/\\(?=[^a-zA-Z0-9\s])/g, ""))
			.join("\n");
	} catch {
		return body;
	}
}
