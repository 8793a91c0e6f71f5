import { type IdKind, makeId } from "../../src/id.ts";
import type { Calls } from "./calls.ts";

/** Rows of each table. Half of them have one value of a column, and half another one. */
const ROWS = 4;

/** SQL for the column of the row with the number `n`, by the name of the column. */
type Columns = Record<string, string>;

export interface GrownLists {
	/** Returns the id of the first row of a kind. */
	idOf: (kind: IdKind) => string;
}

/**
 * Puts a few rows into every table that a list reads and that is no register, so the planner has
 * statistics of them. Tables of registers have their rows already.
 */
export async function growLists(calls: Calls): Promise<GrownLists> {
	const { organizationId } = calls;
	const prefixes = new Map<IdKind, string>();
	const prefixOf = (kind: IdKind) => {
		const made =
			prefixes.get(kind) ?? makeId(organizationId, kind).slice(0, -1);
		prefixes.set(kind, made);
		return made;
	};
	/** SQL for the id of the row `n`, or of the first rows in turn. */
	const id = (kind: IdKind, n = "n") => `'${prefixOf(kind)}' || (${n})`;
	const first = (kind: IdKind) => id(kind, "1");
	/** SQL for the id of the record `n` of a register. */
	const nthOf = (table: string) =>
		`(select (array_agg(r.id::text order by r.id))[n] from ${table} r)`;
	const either = (one: string, other: string) =>
		`case when n % 2 = 0 then ${one} else ${other} end`;
	const ago = "now() - n * interval '1 hour'";
	const hash = "sha256(convert_to(n::text, 'UTF8'))";

	const device = id("device");
	const span = {
		device_id: device,
		check_key: "'DISK_ENCRYPTION'",
		since: ago,
	};
	const message = {
		state: "'FAILED'",
		due_at: "null",
		created_at: ago,
	};
	const tables: Record<string, Columns> = {
		users: { id: id("user"), name: "'Ada ' || n", email: "'ada' || n" },
		memberships: {
			user_id: id("user"),
			role: either("'viewer'", "'member'"),
		},
		api_tokens: {
			id: id("api_token"),
			user_id: first("user"),
			name: "'Token'",
			token_hash: hash,
		},
		api_token_usage: {
			token_id: id("api_token"),
			day: "current_date",
			tool: "'listRisks'",
			calls: "1",
			errors: "0",
		},
		devices: {
			id: device,
			name: "'mbp-' || n",
			hostname: "'mbp-' || n",
			hostname_key: "'mbp-' || n",
			search_text: "'mbp-' || n",
			status: either("'ACTIVE'", "'PENDING'"),
			hardware_hash: hash,
			platform: either("'LINUX'", "'DARWIN'"),
			last_seen_at: ago,
			created_at: ago,
		},
		posture_spans: {
			...span,
			last_observed_at: "now()",
			status: either("'FAIL'", "'PASS'"),
			is_current: "true",
			first_report_id: id("device_posture_report"),
			last_report_id: id("device_posture_report"),
		},
		posture_reports: {
			device_id: device,
			report_id: id("device_posture_report"),
			results: "'[]'",
			// One for each partition.
			received_at: `case n when ${ROWS} then '2001-01-01' else now() + (n - 1) * interval '1 month' end`,
		},
		device_silences: {
			device_id: device,
			since: ago,
			until: "now() + interval '1 day'",
		},
		device_conflicts: {
			device_id: device,
			kind: either("'DUPLICATE_HARDWARE'", "'POSSIBLE_CLONE'"),
			hardware_uuid: "n",
			platform: "'LINUX'",
			hostname: "n",
			os_version: "n",
			agent_version: "n",
		},
		device_groups: { id: id("device_group"), name: "'Sales ' || n" },
		device_group_members: {
			group_id: first("device_group"),
			device_id: device,
		},
		device_exceptions: {
			id: id("device_exception"),
			check_key: either("'DISK_ENCRYPTION'", "'SCREEN_LOCK'"),
			scope: either("'DEVICE'", "'GROUP'"),
			device_id: either(device, "null"),
			group_id: either("null", first("device_group")),
			reason: "'Being replaced'",
			starts_at: ago,
			ends_at: "now() + interval '1 day'",
			decision: either("'APPROVED'", "null"),
			decided_at: either(ago, "null"),
			created_at: ago,
		},
		device_exception_members: {
			exception_id: id("device_exception"),
			device_id: device,
		},
		enrollment_keys: {
			id: id("enrollment_key"),
			name: "'Laptops ' || n",
			secret_hash: hash,
			max_devices: "10",
			expires_at: "now() + interval '1 day'",
			requires_approval: "false",
		},
		enrollment_tokens: {
			id: id("enrollment_token"),
			name: "'mbp-' || n",
			device_id: device,
			token_hash: hash,
			expires_at: "now() + interval '1 day'",
		},
		nonconformity_devices: {
			nonconformity_id: nthOf("nonconformities"),
			device_id: device,
			check_key: "'DISK_ENCRYPTION'",
			failing_since: ago,
			since: ago,
			report_id: id("device_posture_report"),
			until: either("now()", "null"),
			end_reason: either("'PASSED'", "null"),
		},
		record_comments: {
			id: id("record_comment"),
			record_id: nthOf("risks"),
			record_kind: "'risk'",
			author_id: first("user"),
			author_name: "'Ada'",
			text: "'Is this still so?'",
			created_at: ago,
		},
		record_watches: {
			user_id: id("user"),
			record_id: nthOf("risks"),
			record_kind: "'risk'",
		},
		record_links: {
			first_id: `least(${nthOf("risks")}, ${nthOf("measures")})`,
			second_id: `greatest(${nthOf("risks")}, ${nthOf("measures")})`,
			first_kind: `case when ${nthOf("risks")} < ${nthOf("measures")} then 'risk' else 'measure' end`,
			second_kind: `case when ${nthOf("risks")} < ${nthOf("measures")} then 'measure' else 'risk' end`,
		},
		evidence_files: {
			evidence_id: nthOf("evidence"),
			sha256: hash,
			file_name: "'review.txt'",
			content_type: "'text/plain'",
			uploaded_by_name: "'Ada'",
		},
		file_contents: { sha256: hash, size_bytes: "1" },
		file_chunks: { sha256: hash, place: "0", bytes: "'1'" },
		document_approvals: {
			id: id("document_approval"),
			version_id: id("document_version"),
			person_name: "'Ada'",
			decision: "'APPROVED'",
		},
		sessions: {
			id: id("user"),
			user_id: id("user"),
			token: "n",
			expires_at: "now() + interval '1 day'",
		},
		vendor_reviews: {
			id: id("vendor_review"),
			vendor_id: nthOf("vendors"),
			reviewed_on: "current_date",
			outcome: "'APPROVED'",
			risk_rating: "'LOW'",
			reviewer_name: "'Ada'",
			created_at: ago,
		},
		document_versions: {
			id: id("document_version"),
			document_id: nthOf("documents"),
			version_number: "n",
			status: "'PUBLISHED'",
			published_at: "now()",
			published_by_name: "'Ada'",
			content_hash: hash,
			title: "'Policy'",
			author_name: "'Ada'",
			created_at: ago,
		},
		document_signatures: {
			id: id("document_signature"),
			version_id: id("document_version"),
			person_id: nthOf("people"),
			person_name: "'Ada'",
			requested_by_name: "'Ada'",
			requested_at: ago,
		},
		imports: {
			id: id("import"),
			kind: either("'risk'", "'task'"),
			added: "1",
			updated: "0",
			created_at: ago,
		},
		mails: {
			id: id("mail"),
			kind: either("'TEST'", "'EVENTS'"),
			channel_id: either("null", id("notification_channel")),
			user_id: first("user"),
			...message,
		},
		notification_channels: {
			id: id("notification_channel"),
			kind: "'SLACK'",
			sealed_address: "'sealed'",
			address_host: "'hooks.example.com'",
			name: "'Team ' || n",
		},
		notification_messages: {
			id: id("notification_message"),
			channel_id: id("notification_channel"),
			...message,
		},
		webhooks: {
			id: id("webhook"),
			url: "'https://hooks.example.com'",
			event_types: "'{device.enrolled}'",
		},
		webhook_deliveries: {
			id: id("webhook_delivery"),
			webhook_id: id("webhook"),
			event_type: "'device.enrolled'",
			record_id: device,
			body: "'{}'",
			...message,
		},
		invitations: {
			id: id("invitation"),
			email: "'grace' || n",
			role: "'viewer'",
			token_hash: hash,
			invited_by: "'Ada'",
			expires_at: "now() + interval '1 day'",
		},
	};
	const statements = Object.entries(tables).map(([table, columns]) => {
		const isOfOrganization = !["users", "api_tokens", "sessions"].includes(
			table,
		);
		const all = {
			...(isOfOrganization && { organization_id: `'${organizationId}'` }),
			...columns,
		};
		return `insert into ${table} (${Object.keys(all).join(", ")})
			select ${Object.values(all).join(", ")} from generate_series(1, ${ROWS}) n`;
	});
	// A million records of one name, or people of one address, would be no register.
	for (const table of ["measures", "risks", "frameworks"])
		statements.push(`update ${table} set name = name || id`);
	statements.push(
		"update people set primary_email_address = lower(id) || '@example.com'",
	);
	// Triggers and foreign keys would need rows of further tables.
	await calls.database.owner.query(
		[
			"begin",
			"set local session_replication_role = replica",
			...statements,
			"commit",
		].join(";\n"),
	);
	return { idOf: (kind) => `${prefixOf(kind)}1` };
}
