import { Fragment, type Node } from "@tiptap/pm/model";

const EMPHASIS = ["bold", "italic", "strike"];

/**
 * Returns a paragraph or heading whose emphasis Markdown can say. Markdown does not see the end of
 * a bold part that ends with a sign, such as a full stop, if a letter follows at once. So the sign
 * leaves the part. Chinese and Japanese text has no spaces, so there it happens often.
 */
export function withReadableEmphasis(block: Node): Node {
	const parts: Node[] = [];
	for (const next of block.children) {
		const before = parts.pop();
		if (before?.isText && next.isText) {
			parts.push(...parted(before, next));
		} else {
			if (before) parts.push(before);
			parts.push(next);
		}
	}
	return block.copy(Fragment.from(parts));
}

/** Returns two parts of a text. Signs at the border between them stand between the two. */
function parted(before: Node, next: Node): Node[] {
	const [left, right] = [before.text ?? "", next.text ?? ""];
	const ends = hasAlone(before, next) && /^[\p{L}\p{N}]/u.test(right);
	const begins = hasAlone(next, before) && /[\p{L}\p{N}]$/u.test(left);
	const end = ends ? signsAtEnd(left) : "";
	const begin = begins ? (/^[\p{P}\p{S}]+/u.exec(right)?.[0] ?? "") : "";
	if (end === "" && begin === "") return [before, next];
	const signs = before.type.schema.text(
		end + begin,
		before.marks.filter((mark) => mark.isInSet(next.marks)),
	);
	const rest = (part: Node, text: string) =>
		text === "" ? [] : [part.type.schema.text(text, part.marks)];
	return [
		...rest(before, left.slice(0, left.length - end.length)),
		signs,
		...rest(next, right.slice(begin.length)),
	];
}

function signsAtEnd(text: string): string {
	let at = text.length;
	while (at > 0 && /[\p{P}\p{S}]/u.test(text.charAt(at - 1))) at--;
	return text.slice(at);
}

/** Whether a part has an emphasis that its neighbour lacks. */
function hasAlone(part: Node, neighbour: Node): boolean {
	return part.marks.some(
		(mark) =>
			EMPHASIS.includes(mark.type.name) && !mark.isInSet(neighbour.marks),
	);
}
