import { givenFields } from "../records/input.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { labelOf } from "../records/labels.ts";
import { nameField } from "../records/result-rows.ts";

/**
 * Other words that people write above a column, in the normal form of a heading. A word counts only
 * if the register has the field and no other column of the file is for it.
 */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
	name: ["title"],
	title: ["name"],
	full_name: ["name"],
	primary_email_address: ["email", "e_mail", "email_address", "mail"],
	description: ["details"],
	note: ["notes", "comment", "comments", "remark", "remarks"],
	owner_id: ["responsible", "responsible_person", "accountable_person"],
	assigned_to_id: ["assignee", "owner", "responsible"],
	website_url: ["web_site", "homepage", "home_page", "web_address", "url"],
	privacy_policy_url: ["privacy_notice"],
	dpa_url: ["data_processing_agreement"],
	url: ["link", "web_address"],
	status: ["state"],
	deadline: ["due", "due_on", "target_date"],
	due_date: ["due", "due_on", "deadline", "target_date"],
	target_date: ["due", "due_on", "deadline"],
	inherent_likelihood: ["likelihood", "probability"],
	inherent_impact: ["impact"],
	position: ["job_title", "role"],
	reference_id: [
		"reference",
		"ref",
		"ref_no",
		"reference_no",
		"reference_number",
	],
	amount: ["quantity"],
	date_identified: ["identified", "identified_on"],
	asset_type: ["type"],
	document_type: ["type"],
	data_classification: ["classification"],
	countries: ["country"],
	certifications: ["certification", "certificates"],
	framework_id: ["standard"],
	section_title: ["section"],
};

/** Returns the normal form of a heading, such as `owner_id` for "Owner ID" and "owner-id". */
export function normalize(heading: string): string {
	return heading
		.trim()
		.toLowerCase()
		.replace(/[\s-]+/g, "_");
}

/** A column whose heading is only another word for a field. */
export interface GuessedColumn {
	heading: string;
	field: string;
}

/**
 * Returns the field of each heading, null for a column that is not read, and undefined for one that
 * is unknown. A field's own name comes before its label, and its label before a synonym. A file may
 * therefore have columns "Name" and "Title" although each one alone would be the name.
 */
export function fieldsOfHeadings(
	kind: AnyRecordKind,
	headings: readonly string[],
	choices: Readonly<Record<string, string | null>>,
): { fields: (string | null | undefined)[]; guessed: GuessedColumn[] } {
	const aliases = aliasesOf(kind);
	const fields = headings.map((heading) =>
		Object.hasOwn(choices, heading)
			? choices[heading]
			: aliases.get(normalize(heading)),
	);
	/** Gives the field the first unknown column with one of the words, and returns its heading. */
	const take = (field: string, words: readonly string[]) => {
		if (fields.includes(field)) return;
		const at = headings.findIndex(
			(heading, at) =>
				fields[at] === undefined && words.includes(normalize(heading)),
		);
		if (at < 0) return;
		fields[at] = field;
		return headings[at];
	};
	const names = Object.keys(givenFields(kind));
	for (const name of names) take(name, [normalize(labelOf(name))]);
	const guessed: GuessedColumn[] = [];
	for (const field of names) {
		const heading = take(field, synonymsOf(kind, field));
		if (heading !== undefined) guessed.push({ heading, field });
	}
	return { fields, guessed };
}

/** Returns the words that also mean a field. "Vendor name" is the name of a vendor. */
function synonymsOf(kind: AnyRecordKind, field: string): string[] {
	const words = Object.hasOwn(SYNONYMS, field) ? SYNONYMS[field] : undefined;
	return [
		...(words ?? []),
		...(field === kind.title ? [`${normalize(kind.noun)}_name`] : []),
	];
}

/**
 * Returns the field that each spelling of a heading means, or null for a column that is not read.
 */
function aliasesOf(kind: AnyRecordKind): Map<string, string | null> {
	const aliases = new Map<string, string | null>([
		["id", "id"],
		// Spreadsheets often leave empty columns in a file.
		["", null],
	]);
	const derived = Object.keys(kind.derived ?? {});
	for (const name of [
		"organization_id",
		"created_at",
		"updated_at",
		...derived,
	]) {
		aliases.set(name, null);
	}
	for (const [name, field] of Object.entries(kind.fields)) {
		aliases.set(name, field.given === "computed" ? null : name);
		if (!field.reference) continue;
		aliases.set(nameField(name), name);
		aliases.set(name.replace(/_id(s?)$/, "$1"), name);
	}
	return aliases;
}
