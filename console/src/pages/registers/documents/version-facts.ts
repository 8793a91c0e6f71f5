import { dayOf, formatDay } from "../../../parts/days.ts";
import { FIELD_LABELS } from "../../../parts/field-labels.ts";
import { type Block, readForeign } from "../../../parts/markdown/tokens.ts";
import { signedCount } from "./signed-by.ts";
import type { Version } from "./statuses.ts";

const day = (time: string) => formatDay(dayOf(new Date(time)));

/** Returns who wrote, approved and published a version, and its hash, as an export names them. */
export function factsOf(version: Version): [name: string, value: string][] {
	const approvals = version.approvals
		.filter(({ decision, is_current }) => decision === "APPROVED" && is_current)
		.map(({ person_name, decided_at }) => `${person_name}, ${day(decided_at)}`);
	const facts: [string, string | null][] = [
		["Version", String(version.version_number)],
		[FIELD_LABELS.document.changelog, version.changelog],
		["Written by", version.author_name],
		["Approved by", approvals.join("; ") || null],
		[
			"Published",
			version.published_at
				? `${day(version.published_at)} by ${version.published_by_name ?? "a former member"}`
				: "Not published",
		],
		["Signatures", version.published_at ? signedCount(version) : null],
		["SHA-256 of the text", version.content_hash],
	];
	return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

/**
 * Returns the text of a version, or undefined if it cannot be read as Markdown. The title that an
 * export has at its beginning is not repeated.
 */
export function contentOf({ title, content }: Version): Block[] | undefined {
	const blocks = readForeign(content);
	const [first] = blocks ?? [];
	return first?.type === "heading" && first.text.trim() === title.trim()
		? blocks?.slice(1)
		: blocks;
}
