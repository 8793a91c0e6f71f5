import { type AnyRecordKind, toolsetOf } from "../records/kind.ts";
import { recordKinds } from "../registers/all.ts";

/** What the tools of a toolset do, for people who choose toolsets. Registers are described below. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
	applicability:
		"Read and approve the statement of applicability of a framework.",
	archive:
		"Archive risks, measures, vendors, assets and documents, and restore them.",
	audit_log: "Read who did what, if the user may read the audit log.",
	bulk: "Add many records at once, and hand the records of one person over to another.",
	comments: "Read and write comments on records, and watch records.",
	compat:
		"Assign tasks and link controls by the names that other tool servers use.",
	counts: "Count records, and read what is overdue and what fails longest.",
	device_policy:
		"Read and change what the organization and its groups require of devices.",
	devices:
		"Read devices and the results of their checks, and add, change, revoke and delete devices.",
	enrollment_keys: "List, make and revoke the keys that enroll many devices.",
	exceptions: "Read, request, change, approve and delete exceptions of checks.",
	fleet:
		"Approve, reject and revoke many devices at once, set their owners, and keep groups of devices.",
	history: "Read how records, figures and the checks of devices have changed.",
	links: "Read, make and remove links between records.",
	members:
		"Read who belongs to the organization, change roles, and remove members.",
	organizations:
		"Read the user's organizations, and change their names and settings.",
	search:
		"Search all registers and the devices, and find where a record is used.",
	snapshots:
		"Take and delete snapshots, read their records, and compare them with today.",
	starters: "Add suggested risks, measures and controls to a register.",
	vendor_reviews: "Read and add reviews of vendors.",
};

/**
 * Descriptions of toolsets for a read-only token, where its tools do less. A toolset that is not here
 * only reads, has no tool that reads, or is a register.
 */
const READING: Readonly<Record<string, string>> = {
	applicability: "Read the statement of applicability of a framework.",
	comments: "Read comments on records.",
	device_policy:
		"Read what the organization and its groups require of devices.",
	devices: "Read devices and the results of their checks.",
	documents: "Read documents, their versions and who signed them.",
	enrollment_keys: "List the keys that enroll many devices.",
	exceptions: "Read exceptions of checks.",
	fleet: "Read groups of devices.",
	frameworks: "Read frameworks and their coverage.",
	links: "Read links between records.",
	members: "Read who belongs to the organization.",
	nonconformities: "Read nonconformities, and which devices they are about.",
	organizations: "Read the user's organizations.",
	snapshots: "Read snapshots, and compare them with today.",
	starters: "Read the suggested risks, measures and controls.",
	vendor_reviews: "Read reviews of vendors.",
};

/** What some registers permit besides reading and changing their records. */
const BESIDES: Readonly<Record<string, string>> = {
	documents: ", and publish, approve and have people sign their versions",
	frameworks: ", and read their coverage",
	nonconformities: ", and read which devices they are about",
};

const describeRegister = (kind: AnyRecordKind) =>
	`Read, add, change and delete ${kind.nouns}${BESIDES[toolsetOf(kind)] ?? ""}.`;

/**
 * Returns a sentence for each toolset of a tool, by the toolset's name. With `isReadOnly`, it says
 * what a read-only token may do.
 */
export function describeToolsets(
	isReadOnly = false,
): ReadonlyMap<string, string> {
	return new Map([
		...Object.entries(DESCRIPTIONS),
		...recordKinds.map((kind): [string, string] => [
			toolsetOf(kind),
			isReadOnly ? `Read ${kind.nouns}.` : describeRegister(kind),
		]),
		...(isReadOnly ? Object.entries(READING) : []),
	]);
}
