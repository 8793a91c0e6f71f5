const NEWLINE = "\n\r";
const WHITE_SPACE = " \t\n\r";
/** The characters before which a backslash disappears in double quotes, as in a shell. */
const ESCAPED_IN_QUOTES = '"\\`$';

type Place =
	| "before name"
	| "name"
	| "before value"
	| "value"
	| "single quotes"
	| "double quotes"
	| "comment";

/**
 * Reads a file of settings by the rules of systemd's `EnvironmentFile=`, so that a command finds the
 * same settings as the service. Node's own `--env-file` differs: it ends a value at `#`, which may
 * stand in a password.
 *
 * Lines without `=`, and lines that begin with `#` or `;`, are skipped. A value may be in quotes,
 * also over several lines. Outside single quotes, a backslash at the end of a line joins it with the
 * next one.
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
	const settings: Record<string, string> = {};
	let place: Place = "before name";
	let name = "";
	let value = "";
	// White space at the end of a value is dropped, unless it was quoted or escaped.
	let kept = 0;
	const store = () => {
		const named = name.trim();
		if (isName(named)) settings[named] = value.slice(0, kept);
		name = "";
		value = "";
		kept = 0;
		place = "before name";
	};
	const keep = (characters: string) => {
		value += characters;
		kept = value.length;
	};
	for (let at = 0; at < text.length; at++) {
		const sign = text.charAt(at);
		const isNewline = NEWLINE.includes(sign);
		const isSpace = WHITE_SPACE.includes(sign);
		const isEscape = sign === "\\" && at + 1 < text.length;
		if (place === "comment") {
			// A comment that ends with a backslash goes on in the next line.
			if (isEscape) at++;
			else if (isNewline) place = "before name";
		} else if (place === "before name") {
			if (sign === "#" || sign === ";") place = "comment";
			else if (!isSpace) {
				place = "name";
				name = sign;
			}
		} else if (place === "name") {
			if (isNewline) place = "before name";
			else if (sign === "=") place = "before value";
			else name += sign;
		} else if (place === "single quotes") {
			if (sign === "'") place = "before value";
			else keep(sign);
		} else if (place === "double quotes") {
			if (sign === '"') place = "before value";
			else if (isEscape) {
				const next = text.charAt(++at);
				if (ESCAPED_IN_QUOTES.includes(next)) keep(next);
				else if (!NEWLINE.includes(next)) keep(sign + next);
			} else keep(sign);
		} else if (isNewline) {
			store();
		} else if (isEscape) {
			place = "value";
			const next = text.charAt(++at);
			if (!NEWLINE.includes(next)) keep(next);
		} else if (place === "before value" && sign === "'") {
			place = "single quotes";
		} else if (place === "before value" && sign === '"') {
			place = "double quotes";
		} else if (!isSpace) {
			place = "value";
			keep(sign);
		} else if (place === "value") {
			value += sign;
		}
	}
	if (place === "before value" || place === "value") store();
	return settings;
}

const isName = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
