import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { z } from "zod";
import { rejectAtLimit } from "../../db/enforce-limit.ts";
import { UNIQUE_VIOLATION } from "../../db/sqlstate.ts";
import { takeTransactionLocks } from "../../db/transaction-locks.ts";
import { AppError } from "../../errors.ts";
import { makeId } from "../../id.ts";
import type { Change } from "../../operation.ts";
import { recordName, recordValue } from "./dns-records.ts";

/** Largest number of domains of an organization, verified or not. */
export const MAX_DOMAINS = 20;

/** Days for which a domain stays verified after its TXT record disappeared. */
export const KEPT_DAYS = 7;

export const domainShape = z.object({
	id: z.string(),
	domain: z.string(),
	state: z
		.enum(["UNVERIFIED", "VERIFIED", "RECORD_MISSING"])
		.describe(
			`RECORD_MISSING: verified, but the TXT record is gone; ${KEPT_DAYS} days later the domain is unverified`,
		),
	verified_by: z
		.enum(["DNS", "OPERATOR"])
		.nullable()
		.describe("DNS: a TXT record; OPERATOR: a command on the server"),
	verified_at: z.string().nullable(),
	record_name: z.string().describe("Name of the TXT record"),
	record_value: z.string().describe("Text of the TXT record"),
	is_checking: z.boolean().describe("true: the service looks for the record"),
	checked_at: z.string().nullable(),
	failure: z
		.enum(["NOT_FOUND", "OTHER_VALUE", "NO_ANSWER", "TAKEN"])
		.nullable()
		.describe(
			"Why the last look failed: there is no such record, it has another text, no name server answered, or the domain is verified for another organization",
		),
	missing_since: z.string().nullable(),
	kept_until: z
		.string()
		.nullable()
		.describe("When the domain is unverified if the record stays missing"),
	created_at: z.string(),
});
export type Domain = z.output<typeof domainShape>;

export interface DomainRow
	extends Omit<
		Domain,
		"state" | "record_name" | "record_value" | "is_checking"
	> {
	challenge: string;
	check_requested_at: string | null;
}

const COLUMNS = `id, domain, challenge, verified_by, verified_at, missing_since,
	missing_since + ${KEPT_DAYS} * interval '1 day' as kept_until,
	check_requested_at, checked_at, failure, created_at`;

export function toDomain({
	challenge,
	check_requested_at,
	...row
}: DomainRow): Domain {
	const verified = row.missing_since ? "RECORD_MISSING" : "VERIFIED";
	return {
		...row,
		state: row.verified_at ? verified : "UNVERIFIED",
		record_name: recordName(row.domain),
		record_value: recordValue(challenge),
		is_checking: check_requested_at !== null,
	};
}

/** Returns the domains of the transaction's organization in the order of their names. */
export async function readDomains(
	client: PoolClient,
	organizationId: string,
): Promise<DomainRow[]> {
	const { rows } = await client.query<DomainRow>(
		`select ${COLUMNS} from organization_domains where organization_id = $1 order by domain`,
		[organizationId],
	);
	return rows;
}

/** Returns a domain of the transaction's organization, and locks it. */
export async function lockDomain(
	client: PoolClient,
	organizationId: string,
	whose: { id: string } | { domain: string },
): Promise<DomainRow | undefined> {
	const [column, value] =
		"id" in whose ? ["id", whose.id] : ["domain", whose.domain];
	const { rows } = await client.query<DomainRow>(
		`select ${COLUMNS} from organization_domains
		where organization_id = $1 and ${column} = $2 for update`,
		[organizationId, value],
	);
	return rows[0];
}

/** Adds an unverified domain. Throws bad_request if the organization has it, or has too many. */
export async function insertDomain(
	client: PoolClient,
	organizationId: string,
	domain: string,
): Promise<DomainRow> {
	await takeTransactionLocks(client, `domains ${organizationId}`);
	await rejectAtLimit(client, {
		from: "organization_domains where organization_id = $1 and domain = $2",
		values: [organizationId, domain],
		max: 1,
		error: () =>
			new AppError(
				"bad_request",
				`${domain} is in the list of domains already; verify it, or delete it first`,
			),
	});
	await rejectAtLimit(client, {
		from: "organization_domains where organization_id = $1",
		values: [organizationId],
		max: MAX_DOMAINS,
		error: () =>
			new AppError(
				"bad_request",
				`an organization has at most ${MAX_DOMAINS} domains; delete one that you do not need`,
			),
	});
	const { rows } = await client.query<DomainRow>(
		`insert into organization_domains (organization_id, id, domain, challenge)
		values ($1, $2, $3, $4) returning ${COLUMNS}`,
		[
			organizationId,
			makeId(organizationId, "domain"),
			domain,
			randomBytes(24).toString("base64url"),
		],
	);
	return rows[0] as DomainRow;
}

/**
 * Stores that the domain is verified. Throws conflict if it is verified for another organization. A
 * transaction in which this failed must be rolled back.
 */
export async function markVerified(
	client: PoolClient,
	organizationId: string,
	{ id, domain }: DomainRow,
	by: "DNS" | "OPERATOR",
	nextCheckHours: number | null,
): Promise<DomainRow> {
	const { rows } = await client
		.query<DomainRow>(
			`update organization_domains set
				verified_at = case when verified_by = $3 then verified_at else now() end, verified_by = $3,
				missing_since = null, failure = null, check_requested_at = null, checked_at = now(),
				next_check_at = now() + $4::integer * interval '1 hour'
			where organization_id = $1 and id = $2 returning ${COLUMNS}`,
			[organizationId, id, by, nextCheckHours],
		)
		.catch((error) => {
			if (error.code !== UNIQUE_VIOLATION) throw error;
			throw new AppError(
				"conflict",
				`${domain} is verified for another organization; it must be removed there first`,
			);
		});
	return rows[0] as DomainRow;
}

/** Describes the change of a domain for the audit log. */
export function domainChange(
	organizationId: string,
	{ id, domain }: Pick<DomainRow, "id" | "domain">,
	fields: Change["fields"],
): Change {
	return { kind: "domain", id, name: domain, fields, organizationId };
}

/**
 * Returns the verified domains of the transaction's organization. A domain stands for itself and
 * not for the domains below it.
 */
export async function verifiedDomainsOf(
	client: PoolClient,
	organizationId: string,
): Promise<string[]> {
	const { rows } = await client.query<{ domain: string }>(
		`select domain from organization_domains
		where organization_id = $1 and verified_at is not null order by domain`,
		[organizationId],
	);
	return rows.map(({ domain }) => domain);
}

/**
 * Returns the organization for which a domain is verified, in lower case. `db` acts as
 * assay_identity, because other roles see the domains of one organization only.
 */
export async function organizationOfDomain(
	db: Pick<Pool | PoolClient, "query">,
	domain: string,
): Promise<string | undefined> {
	const { rows } = await db.query<{ organization_id: string }>(
		`select organization_id from organization_domains
		where domain = $1 and verified_at is not null`,
		[domain],
	);
	return rows[0]?.organization_id;
}
