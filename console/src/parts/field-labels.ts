import type { RULE_FIELDS } from "../../../src/devices/check-rules.ts";
import type {
	ChoiceName,
	ThresholdName,
} from "../../../src/devices/thresholds.ts";

/** The labels of a device policy's numbers and choices. */
const POLICY = {
	min_password_length: "Shortest password",
	max_lock_delay_seconds: "Screen locks after at most",
	max_patch_age_days: "Updates are installed within",
	max_definitions_age_days: "Malware definitions are at most",
	linux_malware_protection: "Malware protection on Linux",
	max_silence_days: "Longest silence",
} as const satisfies Record<ThresholdName | ChoiceName, string> &
	Record<string, string>;

/** The labels of the rule for one check. */
export const RULE_LABELS = {
	is_required: "Required",
	platforms: "Platforms",
	grace_days: "Days of grace",
	new_device_grace_days: "Days of grace of new devices",
	opens_nonconformity: "Nonconformity",
	per_device: "Nonconformity, one a device",
	severity: "Severity",
	owner_id: "Owner",
} as const satisfies Record<(typeof RULE_FIELDS)[number], string>;

/** The labels of what narrows a membership. */
const LIMITS = {
	ends_on: "Last day",
	writable_registers: "May write only",
	reads_audit_log: "May read the audit log",
} as const;

/** The labels of what an audit package contains. */
const PACKAGE = {
	from: "First day",
	until: "Last day",
	left_out: "Left out",
} as const;

/** Notes of what the service did to an account beside the change itself. */
const SIGNED_OUT = {
	sessions: "Sessions",
	second_factor: "Second factor",
} as const;

/**
 * The labels of fields that no register describes, by the kind of record. The forms use them, and
 * the audit log and the history of a record name changes by them.
 */
export const FIELD_LABELS = {
	api_token: {
		name: "Name",
		description: "Description",
		expires_at: "Expires",
		read_only: "Read only",
		toolsets: "Tools",
		user: "User",
		status: "Status",
		reaches: "Reaches",
		created_at: "Created",
	},
	audit: PACKAGE,
	device: {
		name: "Name",
		owner_id: "Owner",
		claimed_owner_id: "Claimed owner",
		status: "Status",
		hostname: "Hostname",
		platform: "Platform",
		os_version: "Operating system",
		agent_version: "Agent version",
		serial_number: "Serial number",
		hardware_uuid: "Hardware UUID",
		group_id: "Group",
		enrolled_with: "Enrolled with",
		enrollment_key_id: "Enrollment key",
		enrollment_token_expires_at: "The token expires",
		awaits_approval: "Waits for approval",
		adopted_key: "Known device key",
		conflict: "Conflict",
		other_device_id: "Other device",
		claimed_hardware_uuid: "Reported hardware UUID",
		claimed_platform: "Reported platform",
		claimed_hostname: "Reported hostname",
		predecessor_id: "Before it was set up again",
		successor_id: "Since it was set up again",
	},
	device_exception: {
		check_key: "Check",
		scope: "It is for",
		device_id: "Device",
		group_id: "Group",
		platform: "Platform",
		reason: "Reason",
		status: "Status",
		starts_at: "From",
		ends_at: "Last day",
		decision_note: "Note",
		approved_by: "Approved by",
		requested_by_person_id: "Requested by",
		continues_exception_id: "Continues the exception",
		link: "Link to own devices",
	},
	device_group: {
		name: "Name",
		description: "Description",
		filter: "Filter",
		device_count: "Devices",
		added_device_ids: "Added devices",
		removed_device_ids: "Removed devices",
	},
	device_group_policy: { ...POLICY, priority: "Order" },
	device_policy: {
		...POLICY,
		exceptions_need_two_people: "Exceptions need two people",
	},
	document: {
		// Those of a version. Its number stands before them.
		status: "Status",
		content_hash: "Hash of the text",
		characters: "Characters",
		changelog: "What is new",
		asks_again: "Ask those to sign again who signed the version before",
		approval: "Approval",
		signature: "Signature",
		signatures_requested: "Asked to sign",
		signers_reminded: "Reminded to sign",
		sign_link: "Link to sign",
		sign_links: "Links to sign",
	},
	domain: {
		domain: "Domain",
		check: "Check",
		verified_by: "Verified by",
		missing_since: "Record missing since",
	},
	enrollment_key: {
		name: "Name",
		max_devices: "Maximum number of devices",
		expires_at: "Expires",
		group_id: "Group",
		requires_approval: "An administrator approves each device",
		revoked_at: "Revoked",
	},
	evidence: { file: "File" },
	framework: {
		statement_of_applicability: "Statement of applicability",
		note: "Note",
	},
	identity_provider: {
		kind: "Protocol",
		name: "Name",
		issuer: "Issuer",
		client_id: "Client id",
		client_secret: "Client secret",
		sign_in_url: "Address for signing in",
		sign_out_url: "Page for signing out",
		certificates: "Certificates",
		trusts_addresses:
			"Trust addresses that the provider does not call verified",
		role: "Newcomers become",
		groups_claim: "Claim with the groups",
		group_roles: "Roles by group",
		is_enabled: "Enabled",
	},
	import: {
		kind: "Kind",
		added: "Added",
		updated: "Changed",
		deleted: "Deleted",
		restored: "Restored",
		kept: "Kept",
	},
	invitation: {
		email: "E-mail address",
		role: "Role",
		...LIMITS,
		...SIGNED_OUT,
		status: "Status",
		api_tokens: "API tokens",
	},
	mail: { state: "Status" },
	member: { role: "Role", email: "E-mail address", ...LIMITS },
	nonconformity: { added_devices: "Added devices" },
	notification_channel: {
		kind: "Kind",
		name: "Name",
		address: "Address",
		address_host: "Host of the address",
		event_types: "Events",
		digest_weekday: "Day of the mail",
		is_enabled: "Enabled",
		test: "Test",
	},
	organization: {
		name: "Name",
		description: "Description",
		time_zone: "Days begin and end by",
		heartbeat_interval_seconds: "Heartbeat every",
		posture_interval_seconds: "Posture report every",
		skipped_steps: "Skipped first steps",
		session_idle_minutes: "End a session when it was not used for",
		session_max_hours: "End every session after",
		only_provider: "Only the identity provider",
		accepts_older_tokens: "Older API tokens are accepted",
		emergency_accounts: "Emergency accounts",
		has_mail_limits: "Mail limits",
		provisioned_role: "Role of members without a group that gives one",
		closure: "Closure",
		reason: "Reason",
		...PACKAGE,
		encrypted_for: "Encrypt for this public key",
		exported_at: "Exported",
		made_by: "Exported by Assay",
		starter_records: "Records from a starter set",
	},
	people: { link: "Link to own devices" },
	saved_view: { list: "List", name: "Name", search: "Filters and order" },
	scim_credential: { name: "Name", expires_at: "Expires", status: "Status" },
	scim_group: {
		displayName: "Group",
		externalId: "Id of the provider",
		role: "Role",
		added_members: "Added members",
		removed_members: "Removed members",
	},
	snapshot: {
		type: "Records",
		description: "Description",
		counts: "Counts",
		sha256: "Hash",
	},
	user: {
		...SIGNED_OUT,
		name: "Name",
		two_factor: "Two-factor authentication",
		passkey: "Passkey",
		passkeys: "Passkeys",
		passkeys_removed: "Removed passkeys",
		other_sessions: "Other sessions",
		sessions_ended: "Ended sessions",
		api_token: "API token",
		api_tokens_revoked: "Revoked API tokens",
		status: "Status",
		provider: "Identity provider",
		way: "Way of signing in",
		link: "Link",
		throttled: "Further attempts not checked for",
		// Those that a SCIM client gives.
		userName: "User name",
		externalId: "Id of the provider",
		active: "Active",
		displayName: "Display name",
		title: "Title",
		emails: "E-mail addresses",
	},
	vendor: { review: "Review" },
	webhook: {
		host: "Host of the address",
		description: "Description",
		event_types: "Events",
		is_enabled: "Enabled",
		secret: "Signing secret",
		test: "Test",
		delivery: "Delivery",
	},
} as const satisfies Record<string, Record<string, string>>;

/** The labels of what can be noted about records of every kind. */
const OF_EVERY_KIND: Record<string, string> = {
	comment: "Comment",
	linked_record: "Linked record",
	linked_records: "Linked records",
	further_rejections: "Further denied calls",
	snapshots: "Hashes of snapshots",
	redacted_entries: "Erased from entries",
};

/**
 * Returns the label of a field of an audit entry that no register describes. That of a rule begins
 * with its check, and that of a document's version with the version. Returns undefined if the field
 * is unknown, such as one of an earlier version of Assay.
 */
export function fieldLabel(
	kind: string | null,
	name: string,
	checkLabel: (key: string) => string = (key) => key,
): string | undefined {
	const labels: Record<string, string> =
		Object.entries(FIELD_LABELS).find(([known]) => known === kind)?.[1] ?? {};
	const [, key, rule] = /^(.+)\.(\w+)$/.exec(name) ?? [];
	if (key && rule) {
		const label = (RULE_LABELS as Record<string, string>)[rule];
		return label && `${checkLabel(key)}: ${label.toLowerCase()}`;
	}
	const [, version, part] = /^version_(\d+)_(\w+)$/.exec(name) ?? [];
	if (version && part) {
		const label = labels[part];
		return label && `Version ${version}: ${label.toLowerCase()}`;
	}
	return labels[name] ?? OF_EVERY_KIND[name];
}
