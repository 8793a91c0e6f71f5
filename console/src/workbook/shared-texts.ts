import { UnreadableWorkbook } from "./unreadable-workbook.ts";
import { readTokens } from "./xml-tokens.ts";

/** Largest number of texts that the sheets of a workbook share: those of 10,000 rows with 200 cells. */
const MAX_TEXTS = 2_000_000;

/** Returns the texts that the cells of all sheets refer to by number. */
export async function readSharedTexts(
	pieces: AsyncIterable<string>,
): Promise<string[]> {
	const texts: string[] = [];
	let text = new RichText();
	for await (const tokens of readTokens(pieces)) {
		for (const token of tokens) {
			if (token.type === "open" && token.name === "si") text = new RichText();
			text.add(token);
			if (token.type !== "close" || token.name !== "si") continue;
			if (texts.push(text.value) > MAX_TEXTS) {
				throw new UnreadableWorkbook(
					`has more than ${MAX_TEXTS.toLocaleString()} different texts. Copy the rows to import into a new workbook, and choose that file.`,
				);
			}
		}
	}
	return texts;
}

/** Collects a text that may have runs with different fonts, and signs that say how to pronounce it. */
export class RichText {
	#text = "";
	#isText = false;
	#isPronunciation = false;

	add(token: { type: string; name?: string; text?: string }): void {
		if (token.type === "text") {
			if (this.#isText && !this.#isPronunciation) this.#text += token.text;
		} else if (token.name === "t") this.#isText = token.type === "open";
		else if (token.name === "rPh") {
			this.#isPronunciation = token.type === "open";
		}
	}

	get value(): string {
		return readEscapes(this.#text);
	}
}

/** Returns a text with the signs that Excel writes as `_x000D_`. */
export function readEscapes(text: string): string {
	if (!text.includes("_x")) return text.replaceAll("\r\n", "\n");
	return text
		.replace(/_x([\da-f]{4})_/gi, (_, code) =>
			String.fromCharCode(Number.parseInt(code, 16)),
		)
		.replaceAll("\r\n", "\n");
}
