/** Shown in the place of a character that the font does not have. */
const UNKNOWN = "\uFFFD";

/** Signs that the font does not have, and what reads the same. */
const SAME: Record<string, string> = {
	"→": "->",
	"➔": "->",
	"➜": "->",
	"➤": "->",
	"⟶": "->",
	"←": "<-",
	"⟵": "<-",
	"↔": "<->",
	"⇒": "=>",
	"⇐": "<=",
	"⇔": "<=>",
	"✓": "√",
	"✔": "√",
	"✅": "√",
	"✗": "×",
	"✘": "×",
	"✕": "×",
	"✖": "×",
	"❌": "×",
	"☐": "[ ]",
	"☑": "[x]",
	"☒": "[x]",
	"▪": "•",
	"◦": "•",
	"‣": "•",
	"►": "•",
	"▶": "•",
	"\t": " ",
};
const NARROW_SPACES = /[\u2000-\u200A\u202F\u205F]/u;
/** Characters that only say how their neighbors look, such as those inside an emoji. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u;
const letters = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Returns a text with only what the font can draw. A sign that the font does not have becomes another
 * one that reads the same. Other characters become "�", and are added to `missing`.
 */
export function drawable(
	text: string,
	hasGlyph: (codePoint: number) => boolean,
	missing: Set<string>,
): string {
	if (/^[\n -~]*$/.test(text)) return text;
	const drawnAs = (sign: string) =>
		sign === "\n" || hasGlyph(sign.codePointAt(0) ?? 0)
			? sign
			: (SAME[sign] ??
				(NARROW_SPACES.test(sign)
					? "\u00A0"
					: UNSEEN.test(sign)
						? ""
						: undefined));
	let drawn = "";
	for (const { segment } of letters.segment(text.normalize("NFC"))) {
		const signs = [...segment].map(drawnAs);
		if (signs.includes(undefined)) missing.add(segment);
		drawn += signs.includes(undefined) ? UNKNOWN : signs.join("");
	}
	return drawn;
}
