import { APPROVAL_COLUMNS } from "../applicability/approvals.ts";
import { MAX_CONTROLS } from "../applicability/statement.ts";
import { canBeArchived } from "../records/archived-field.ts";
import { recordKinds } from "../registers/all.ts";
import { VERSIONS } from "./chosen-files.ts";
import { listVersions, readVersions } from "./document-files.ts";
import { listEvidence, readEvidence } from "./evidence-files.ts";
import { readSealedEntries, verify } from "./log-files.ts";
import {
	inPeriod,
	listFile,
	type PackageFile,
	queryFile,
	type Source,
} from "./package-file.ts";
import { readStatements } from "./statement-files.ts";

/** A part of a package: a file, or a folder with files. */
export interface Part {
	path: string;
	/** Tells an auditor what it is. */
	about: string;
	files: (source: Source) => AsyncIterable<PackageFile> | PackageFile[];
}

const registers = recordKinds.map((kind): Part => {
	const path = `registers/${kind.key.many.replaceAll("_", "-")}.csv`;
	const inputs = canBeArchived(kind)
		? [{}, { filter: { archived: true } }]
		: [{}];
	return {
		path,
		about: `All ${kind.nouns}${canBeArchived(kind) ? ", archived ones last" : ""}.`,
		files: (source) => [
			listFile(path, source, `list${kind.tool.many}`, inputs),
		],
	};
});

/** Makes a part of a list that an operation returns. */
const list = (
	path: string,
	about: string,
	operation: string,
	input: (source: Source) => object = () => ({}),
): Part => ({
	path,
	about,
	files: (source) => [listFile(path, source, operation, [input(source)])],
});

/** Makes a part of what a query returns. Its parameters are the organization and the period. */
const query = (
	path: string,
	about: string,
	fields: readonly string[],
	text: string,
	valuesOf: (source: Source) => unknown[] = inPeriod,
): Part => ({
	path,
	about,
	files: (source) => [queryFile(path, source, fields, text, valuesOf(source))],
});

const ofOrganization = ({ scope }: Source) => [scope.organizationId];

/** Every part, in the order of the package. */
export const PARTS: readonly Part[] = [
	...registers,
	query(
		"registers/links.csv",
		"Which records are linked to each other, by their ids.",
		["first_kind", "first_id", "second_kind", "second_id", "created_at"],
		`select first_kind, first_id, second_kind, second_id, created_at from record_links
		where organization_id = $1 order by first_id, second_id`,
		ofOrganization,
	),
	query(
		"registers/vendor-reviews.csv",
		"All reviews of vendors.",
		[
			...["vendor_id", "vendor_name", "reviewed_on", "outcome", "risk_rating"],
			...["note", "next_review_date", "evidence_ids", "reviewer_name"],
		],
		`select r.vendor_id, v.name as vendor_name, r.reviewed_on::text, r.outcome, r.risk_rating,
			r.note, r.next_review_date::text, r.evidence_ids, r.reviewer_name
		from vendor_reviews r
		join vendors v on v.organization_id = r.organization_id and v.id = r.vendor_id
		where r.organization_id = $1 order by r.vendor_id, r.reviewed_on, r.id`,
		ofOrganization,
	),
	{
		path: "statements/",
		about: `The statement of applicability: each control with why it applies or not, its measures, documents, evidence, risks and device checks. A framework with more than ${MAX_CONTROLS} controls has none.`,
		files: readStatements,
	},
	query(
		"statements/approvals.csv",
		"Who approved which version of a statement.",
		[
			...["framework_id", "framework_name", "framework_version"],
			...["version_number", "approved_by", "approved_at", "note", "sha256"],
		],
		`select t.framework_id, t.framework_name, t.framework_version, ${APPROVAL_COLUMNS}
		from applicability_statements t
		where t.organization_id = $1 order by t.framework_id, t.version_number`,
		ofOrganization,
	),
	{
		path: "documents/",
		about:
			"The text, in Markdown, of each version of a document that was in force in the period.",
		files: readVersions,
	},
	{
		path: "documents/versions.csv",
		about: "These versions, with the names of their files.",
		files: listVersions,
	},
	query(
		"documents/approvals.csv",
		"Who approved or rejected these versions. is_current is false for an earlier draft.",
		[
			...["document_id", "version_id", "version_number", "title"],
			...["person_name", "user_name", "decision", "is_current", "note"],
			"decided_at",
		],
		`select v.document_id, v.id as version_id, v.version_number, v.title, a.person_name,
			a.user_name, a.decision, a.is_current, a.note, a.decided_at
		from document_approvals a
		join (select v.* from ${VERSIONS}) v on v.id = a.version_id
		where a.organization_id = $1 order by v.document_id, v.version_number, a.decided_at, a.id`,
	),
	query(
		"documents/signatures.csv",
		"Who was asked to sign these versions, and who has signed, with the hash of what was signed.",
		[
			...["document_id", "version_id", "version_number", "title"],
			...["person_name", "user_name", "state", "requested_by_name"],
			...["requested_at", "signed_at", "way", "content_hash"],
		],
		`select v.document_id, v.id as version_id, v.version_number, v.title, s.person_name,
			s.user_name, s.state, s.requested_by_name, s.requested_at, s.signed_at, s.way,
			encode(s.content_hash, 'hex') as content_hash
		from document_signatures s
		join (select v.* from ${VERSIONS}) v on v.id = s.version_id
		where s.organization_id = $1 order by v.document_id, v.version_number, s.requested_at, s.id`,
	),
	{
		path: "evidence/",
		about:
			"The files of evidence that counted in the period: neither archived nor out of date before it began.",
		files: readEvidence,
	},
	{
		path: "evidence/files.csv",
		about:
			"These files, with their SHA-256. If the column file is empty, the content is not in this package.",
		files: listEvidence,
	},
	list(
		"devices/devices.csv",
		"The devices, with the state of each check at the end of the period, or at the moment of the package if the period was not over. Names, owners and systems are those of the moment of the package.",
		"listDevices",
		({ subject: { isOver, end } }) =>
			isOver ? { as_of: new Date(Date.parse(end) - 1).toISOString() } : {},
	),
	query(
		"devices/check-history.csv",
		"The statuses that each check of a device had in the period, and since when.",
		[
			...["device_id", "device_name", "check_key", "status"],
			...["since", "last_observed_at", "is_current"],
		],
		`select s.device_id, coalesce(d.name, d.hostname) as device_name, s.check_key, s.status,
			s.since, s.last_observed_at, s.is_current
		from posture_spans s
		join devices d on d.organization_id = s.organization_id and d.id = s.device_id
		where s.organization_id = $1 and s.since < $3 and (s.is_current or s.last_observed_at >= $2)
		order by s.device_id, s.check_key, s.since`,
	),
	list(
		"devices/exceptions.csv",
		"All exceptions that excuse devices from checks, also ended ones.",
		"listDeviceExceptions",
	),
	query(
		"devices/nonconformity-devices.csv",
		"The devices for which the service opened nonconformities, if they failed in the period.",
		[
			...["nonconformity_id", "reference_id", "device_id", "device_name"],
			...["check_key", "failing_since", "since", "until", "end_reason"],
		],
		`select p.nonconformity_id, n.reference_id, p.device_id,
			coalesce(d.name, d.hostname) as device_name, p.check_key, p.failing_since, p.since,
			p.until, p.end_reason
		from nonconformity_devices p
		left join nonconformities n on n.organization_id = $1 and n.id = p.nonconformity_id
		left join devices d on d.organization_id = $1 and d.id = p.device_id
		where p.organization_id = $1 and p.since < $3 and (p.until is null or p.until >= $2)
		order by p.since, p.position`,
	),
	list(
		"audit-log/entries.csv",
		"The audit log of the period, newest first.",
		"listAuditLog",
		({ subject: { begin, end } }) => ({ filter: { from: begin, until: end } }),
	),
	{
		path: "audit-log/entries.jsonl",
		about:
			"The same entries, oldest first, with their seals. The guide to the audit log, in the documentation of Assay, tells how to compute the hashes again.",
		files: (source) => [readSealedEntries(source)],
	},
	{
		path: "audit-log/hashes.csv",
		about:
			"The hash of every entry since the log began, to compare with a hash that you noted earlier.",
		files: verify,
	},
	{
		path: "audit-log/verification.json",
		about:
			"What the service found when it verified the whole log, and the newest hash.",
		// The part before makes it too.
		files: () => [],
	},
	list("members.csv", "The members, with their roles.", "listMembers"),
	list(
		"snapshots.csv",
		"The snapshots that were taken of registers, with their hashes.",
		"listSnapshots",
	),
];
