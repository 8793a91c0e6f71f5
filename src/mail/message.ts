export interface Message {
	to: string;
	subject: string;
	/** Text of the message, which is plain text. Each paragraph is one line. */
	text: string;
	/** Further headers, such as those of RFC 8058. */
	headers?: Record<string, string>;
}

const MAX_NAME = 80;

/**
 * Returns a user's name in a form that is safe in a mail to somebody else. The result is short, on
 * one line, and contains nothing that a mail program would turn into a link. People trust our
 * mails, so nobody may add text of their own through a name.
 */
export function nameInMail(name: string): string {
	const plain = name
		.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
		// Removes invisible characters and characters that change the direction of text.
		.replace(/\p{Cf}/gu, "")
		.replace(/([.:/\\@。．])(?=\S)/gu, "$1 ")
		.replace(/\s+/g, " ")
		.trim();
	const letters = [...plain];
	return letters.length <= MAX_NAME
		? plain
		: `${letters.slice(0, MAX_NAME).join("")}…`;
}
