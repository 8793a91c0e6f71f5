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
	category: ["type", "area"],
	area: ["category", "topic"],
	treatment: ["risk_treatment", "response", "risk_response"],
	next_review_date: ["next_review", "next_review_on", "review_due"],
	next_review_on: ["next_review", "next_review_date", "review_due"],
	last_review_date: ["last_review", "last_reviewed", "last_reviewed_on"],
	contract_start_date: ["contract_start", "start_of_contract", "start_date"],
	contract_end_date: ["contract_end", "end_of_contract", "end_date"],
	renewal_notice_date: ["renewal_notice", "notice_date"],
	agreement_status: ["agreement", "dpa_status"],
	agreement_signed_on: ["dpa_signed_on", "dpa_signed"],
	valid_until: ["valid_to", "expires", "expires_on", "expiry", "expiry_date"],
	starts_on: ["start", "start_date"],
	ends_on: ["end", "end_date"],
	audit_type: ["type"],
	kind: ["type", "employment_type"],
	regulator: ["authority"],
	root_cause: ["cause"],
	corrective_action: ["correction"],
	vendor_ids: ["vendor", "supplier", "suppliers"],
	approver_ids: ["approver", "approved_by"],
	contacts: ["contact", "contact_person"],
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
	amount: ["quantity", "qty", "count"],
	date_identified: ["identified", "identified_on"],
	asset_type: ["type"],
	document_type: ["type"],
	data_classification: ["classification"],
	countries: ["country"],
	certifications: ["certification", "certificates"],
	framework_id: ["standard"],
	section_title: ["section"],
};

/** Words that mean a field only in one register, by the register's kind. */
const SYNONYMS_OF: Readonly<
	Record<string, Readonly<Record<string, readonly string[]>>>
> = {
	vendor: {
		name: [
			"supplier",
			"supplier_name",
			"company",
			"provider",
			"service_provider",
		],
		category: ["vendor_type", "supplier_type"],
		risk_rating: ["risk", "risk_level", "criticality"],
	},
	asset: { asset_type: ["category"] },
	datum: { data_classification: ["sensitivity"] },
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

/**
 * Returns the words that also mean a field. "Vendor" and "Vendor name" are the name of a vendor, and
 * "Vendor owner" is its owner.
 */
export function synonymsOf(kind: AnyRecordKind, field: string): string[] {
	const noun = normalize(kind.noun);
	return [
		...own(SYNONYMS, field),
		...own(SYNONYMS_OF[kind.kind] ?? {}, field),
		...(field === kind.title ? [`${noun}_name`] : []),
		...(field === kind.title && field !== "reference_id" ? [noun] : []),
		...(field === "owner_id" ? [`${noun}_owner`] : []),
	];
}

const own = (
	words: Readonly<Record<string, readonly string[]>>,
	name: string,
) => (Object.hasOwn(words, name) ? (words[name] ?? []) : []);

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
