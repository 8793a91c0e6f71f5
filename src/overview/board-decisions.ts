import type { PoolClient } from "pg";
import { z } from "zod";
import { isContradictedSql } from "../devices/check-results/verification.ts";
import { EXCEPTION_NAME } from "../devices/exceptions/exception-name.ts";
import { ENDS_SOON } from "../devices/exceptions/exception-status.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { orInfinity } from "../records/date-or-infinity.ts";
import { nameSql } from "../records/record-name.ts";
import { nonconformity } from "../registers/nonconformity.ts";
import {
	IS_ACCEPTED_SQL,
	IS_DECIDED_OTHERWISE_SQL,
	IS_UNDECIDED_SQL,
} from "../starters/undecided.ts";

/** Most records that a decision names. */
const NAMED = 3;
/** Lowest residual score of a risk that the board has to decide about: the band Critical. */
const CRITICAL = 15;

interface Source {
	/** SQL of the rows that wait for a decision, written after `from`. */
	from: string;
	/** A statement that counts them, if one costs less than `count(*)` of them. */
	count?: string;
	/** SQL of the name of a row, and of the order in which the first ones are named. */
	name: string;
	order: string;
}

const CRITICAL_SQL = `risks t where t.organization_id = $1 and t.archived_at is null
	and t.residual_risk_score >= ${CRITICAL}`;

const SOURCES = {
	/** An accepted risk waits for nothing. An undecided one counts only as an undecided one. */
	CRITICAL_RISKS: {
		from: `${CRITICAL_SQL} and ${IS_DECIDED_OTHERWISE_SQL}`,
		// The first count reads only an index, the second one the few undecided risks, which nobody accepted.
		count: `select (
				(select count(*) from ${CRITICAL_SQL} and not (${IS_ACCEPTED_SQL}))
				- (select count(*) from ${CRITICAL_SQL} and ${IS_UNDECIDED_SQL})
			)::int as count`,
		name: "t.name",
		order: "t.residual_risk_score desc, t.name_key, t.id",
	},
	UNDECIDED_RISKS: {
		from: `risks t where t.organization_id = $1 and t.archived_at is null
			and ${IS_UNDECIDED_SQL}`,
		name: "t.name",
		order: "t.residual_risk_score desc, t.name_key, t.id",
	},
	ENDED_ACCEPTANCES: {
		from: `risks t where t.organization_id = $1 and t.archived_at is null
			and ${IS_ACCEPTED_SQL} and ${orInfinity("accepted_until", "date")} < ${TODAY}`,
		name: "t.name",
		order: "t.accepted_until, t.id",
	},
	OVERDUE_MAJOR_NONCONFORMITIES: {
		from: `nonconformities t where t.organization_id = $1 and t.status <> 'CLOSED'
			and t.severity = 'MAJOR' and t.due_date < ${TODAY}`,
		name: nameSql(nonconformity, "t"),
		order: "t.due_date, t.id",
	},
	CONTRADICTED_MEASURES: {
		from: `measures t where t.organization_id = $1 and t.archived_at is null
			and ${isContradictedSql("t")}`,
		name: "t.name",
		order: "t.name_key, t.id",
	},
	DOCUMENTS_TO_APPROVE: {
		from: `document_versions t where t.organization_id = $1 and t.status = 'PENDING_APPROVAL'`,
		name: "t.title",
		order: "t.title, t.id",
	},
	EXCEPTIONS_TO_DECIDE: {
		from: `device_exceptions t where t.organization_id = $1 and t.decision is null
			and t.ends_at > now()`,
		name: EXCEPTION_NAME,
		order: "t.created_at, t.id",
	},
	ENDING_EXCEPTIONS: {
		from: `device_exceptions t where t.organization_id = $1 and ${ENDS_SOON}`,
		name: EXCEPTION_NAME,
		order: "t.ends_at, t.id",
	},
} as const satisfies Record<string, Source>;

const KINDS = Object.keys(SOURCES) as (keyof typeof SOURCES)[];

export const decisions = z
	.array(
		z.object({
			kind: z.enum(KINDS),
			count: z.int(),
			names: z.array(z.string()).describe(`The first ${NAMED}`),
		}),
	)
	.describe("What needs a decision; only what there is");

const TEXT = Object.entries<Source>(SOURCES)
	.map(
		([kind, { from, count, name, order }]) => `
			select '${kind}' as kind, c.count,
				array(select left(${name}, 200) from ${from} order by ${order} limit ${NAMED}) as names
			from (${count ?? `select count(*)::int as count from ${from}`}) c
			where c.count > 0`,
	)
	.join(" union all ");

/**
 * Counts what waits for a decision, in one statement, and names the first records of each kind. It
 * looks for names only where there are some, because a search for none reads the whole register.
 */
export async function readDecisions(
	client: PoolClient,
	organizationId: string,
): Promise<z.output<typeof decisions>> {
	const { rows } = await client.query<z.output<typeof decisions>[number]>({
		name: "board.decisions",
		text: TEXT,
		values: [organizationId],
	});
	return rows;
}
