import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import type { AuditEvent } from "../../audit/events.ts";
import { appendChanges } from "../../audit/log.ts";
import { withTenant } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import {
	type FirstLooks,
	type Poller,
	startPoller,
} from "../../jobs/poller.ts";
import type { Mailer } from "../../mail/mailer.ts";
import type { Change } from "../../operation.ts";
import type { Principal } from "../../principal.ts";
import { mailAdministrators } from "../mail-administrators.ts";
import { type Found, lookForRecord } from "./dns-records.ts";
import {
	type DomainRow,
	domainChange,
	KEPT_DAYS,
	lockDomain,
	markVerified,
} from "./domain-store.ts";

const POLL_MS = 60_000;
/** Looks at the DNS at a time, in all and for one organization. */
const MAX_LOOKS = 8;
const MAX_OF_ORGANIZATION = 2;
/** A look takes at most 10 s. A process that has not reported by then has died. */
const TAKEN_SECONDS = 60;

/** Hours until the next look at a verified domain, and until the next one after a failure. */
const EVERY_HOURS = 24;
const AGAIN_HOURS = 6;

const SERVICE: Principal = {
	kind: "SYSTEM",
	userId: null,
	name: "Assay",
	memberships: [],
};

interface Taken {
	organization_id: string;
	id: string;
}

export interface DomainCheckParts {
	pool: Pool;
	log: Logger;
	/** Sends mails. Undefined if the service sends none. */
	mail?: Mailer | undefined;
	/** Name servers to ask, such as 192.0.2.1:53. By default those of the operating system. */
	dnsServers?: readonly string[] | undefined;
	firstLooks?: FirstLooks | undefined;
}

/**
 * Looks for the TXT records of domains: when an administrator asks, and every day for those that a
 * record verified.
 */
export function startDomainChecks(parts: DomainCheckParts): Poller {
	const { log, firstLooks } = parts;
	return startPoller(
		"domains",
		POLL_MS,
		() => checkDue(parts),
		log,
		firstLooks,
	);
}

/** Checks the domains that are due. Returns true if more may be due. */
async function checkDue(parts: DomainCheckParts): Promise<boolean> {
	const { rows } = await parts.pool.query<Taken>(
		"select * from take_domain_checks($1, $2, $3)",
		[MAX_LOOKS, MAX_OF_ORGANIZATION, TAKEN_SECONDS],
	);
	await Promise.all(rows.map((taken) => check(parts, taken)));
	return rows.length > 0;
}

async function check(
	{ pool, log, mail, dnsServers }: DomainCheckParts,
	{ organization_id: organizationId, id }: Taken,
): Promise<void> {
	const inTenant = <Result>(work: (client: PoolClient) => Promise<Result>) =>
		withTenant(pool, organizationId, work);
	const row = await inTenant((client) =>
		lockDomain(client, organizationId, { id }),
	);
	if (!row) return;
	const found = await lookForRecord(row.domain, row.challenge, dnsServers);
	if (found !== "PROVED") {
		const outcome = await inTenant(async (client) => {
			const outcome = await noteFailure(client, organizationId, id, found);
			if (mail && outcome === "MISSING") {
				await mailAdministrators(client, {
					kind: "DOMAIN_RECORD",
					organizationId,
				});
			}
			return outcome;
		});
		if (outcome === "MISSING") mail?.wake();
		if (outcome === "LOST") {
			log.warn(
				{ organization: organizationId, domain: row.domain },
				"a domain is no longer verified, because its TXT record is gone",
			);
		}
		return;
	}
	try {
		await inTenant((client) => noteProof(client, organizationId, id));
	} catch (error) {
		if (!(error instanceof AppError && error.code === "conflict")) throw error;
		await inTenant((client) =>
			noteFailure(client, organizationId, id, "TAKEN"),
		);
	}
}

async function noteProof(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<void> {
	const before = await lockDomain(client, organizationId, { id });
	// Somebody deleted the domain meanwhile, or the operator verified it.
	if (!before || before.verified_by === "OPERATOR") return;
	await markVerified(client, organizationId, before, "DNS", EVERY_HOURS);
	if (!before.verified_by) {
		await note(client, organizationId, before, "confirmDomain", {
			verified_by: { after: "DNS" },
		});
	} else if (before.missing_since) {
		await note(client, organizationId, before, "confirmDomain", {
			missing_since: { before: before.missing_since },
		});
	}
}

/**
 * Stores why a look failed. Returns LOST if the domain is unverified from now on, and MISSING if its
 * record is missing for the first time.
 */
async function noteFailure(
	client: PoolClient,
	organizationId: string,
	id: string,
	failure: Exclude<Found, "PROVED"> | "TAKEN",
): Promise<"LOST" | "MISSING" | undefined> {
	const before = await lockDomain(client, organizationId, { id });
	if (!before || before.verified_by === "OPERATOR") return undefined;
	const isGone = failure === "NOT_FOUND" || failure === "OTHER_VALUE";
	const { rows } = await client.query<{
		missing_since: string | null;
		is_lost: boolean;
	}>(
		`with looked as (
			select verified_by is not null and $4 as is_missing,
				coalesce($4 and missing_since <= now() - $5 * interval '1 day', false) as is_lost
			from organization_domains where organization_id = $1 and id = $2
		)
		update organization_domains d set
			failure = $3, checked_at = now(), check_requested_at = null,
			verified_by = case when l.is_lost then null else verified_by end,
			verified_at = case when l.is_lost then null else verified_at end,
			missing_since = case
				when l.is_lost then null
				when l.is_missing then coalesce(missing_since, now())
				else missing_since
			end,
			next_check_at = case when verified_by is null or l.is_lost then null
				else now() + $6 * interval '1 hour' end
		from looked l
		where d.organization_id = $1 and d.id = $2
		returning d.missing_since, l.is_lost`,
		[organizationId, id, failure, isGone, KEPT_DAYS, AGAIN_HOURS],
	);
	const [after] = rows;
	if (after?.is_lost) {
		await note(client, organizationId, before, "loseDomain", {
			verified_by: { before: "DNS" },
		});
		return "LOST";
	}
	if (after?.missing_since && !before.missing_since) {
		await note(client, organizationId, before, "missDomainRecord", {
			missing_since: { after: after.missing_since },
		});
		return "MISSING";
	}
	return undefined;
}

function note(
	client: PoolClient,
	organizationId: string,
	row: DomainRow,
	event: AuditEvent,
	fields: Change["fields"],
): Promise<void> {
	return appendChanges(client, SERVICE, event, organizationId, [
		domainChange(organizationId, row, fields),
	]);
}
