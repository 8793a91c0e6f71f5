import type { PoolClient } from "pg";
import { z } from "zod";
import {
	isContradictedSql,
	measurePercentSql,
} from "../devices/check-results/verification.ts";
import { checkName } from "../devices/device-record.ts";
import { countEndingKeys } from "../devices/ending-keys.ts";
import { EXCEPTION_STATUS } from "../devices/exceptions/exception-status.ts";
import { defineOperation } from "../operation.ts";
import { readToday } from "../organizations/time-zone.ts";
import { orInfinity } from "../records/date-or-infinity.ts";
import { DUE_SOON_DAYS, dueDates } from "../records/due-dates.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { organizationId } from "../records/list-pages.ts";
import { nameSql } from "../records/record-name.ts";
import { dateSchema } from "../records/text-schemas.ts";
import { recordKinds } from "../registers/all.ts";
import { OLD_TOKEN_DAYS } from "../tokens/old-token.ts";
import { DAY_MS } from "../units.ts";
import { failingCheck, findFailingChecks } from "./failing-checks.ts";
import { MAX_NAMED } from "./max-named.ts";
import { personalShape, readPersonal } from "./personal.ts";
import { countRisks, riskCells } from "./risk-matrix.ts";

const work = z.object({
	open: z.int().describe("Records with is_open: true"),
	overdue: z.int().describe("Open records with due_until: overdue_until"),
	due_soon: z
		.int()
		.describe("Open records with due_from: today, due_until: soon_until"),
});

/** The registers whose records have a due date. */
const WORK = recordKinds.filter(({ due }) => due);

/**
 * Returns the content of the console's home page, except for the part that listPostureSummary
 * returns. The console can list the records behind each number.
 */
export const getOverview = defineOperation({
	name: "getOverview",
	title: "Get the overview",
	description:
		"Count what needs attention in an organization: open, overdue and soon due work of each register, risks by likelihood and impact, the checks that have failed longest, old API tokens, and the records changed last.",
	toolset: "counts",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		today: dateSchema()
			.optional()
			.describe("Today's date; by default in the organization's time zone"),
	}),
	output: z.object({
		today: z.string(),
		overdue_until: z.string().describe("The day before today"),
		soon_until: z.string().describe(`${DUE_SOON_DAYS} days after today`),
		nonconformities: work,
		tasks: work,
		obligations: work,
		continual_improvements: work,
		reminders: z
			.array(
				z.object({
					register: z.string(),
					field: z.string(),
					overdue: z.int(),
					due_soon: z.int(),
				}),
			)
			.describe("Reviews, notices and expiries that are overdue or soon due"),
		risks: riskCells,
		failing_longest: z
			.array(failingCheck)
			.describe(
				"Failing checks of ACTIVE devices that are ONLINE and report, without exceptions",
			),
		contradicted_measures: z
			.array(
				z.object({
					id: z.string(),
					name: z.string(),
					check_key: z.string(),
					check_name: z.string().nullable(),
					pass_percent: z.number().nullable(),
					required_percent: z.int(),
				}),
			)
			.describe(
				`Measures that are IMPLEMENTED although their device check does not show it, at most ${MAX_NAMED}`,
			),
		old_api_tokens: z
			.int()
			.nullable()
			.describe(
				`Live API tokens that reach the organization and are older than ${OLD_TOKEN_DAYS} days; null unless you are an administrator`,
			),
		exceptions_to_decide: z
			.int()
			.nullable()
			.describe(
				"Requested device exceptions; null unless you are an administrator",
			),
		unknown_device_keys: z
			.object({ knocking: z.int(), waits_until: z.string().nullable() })
			.nullable()
			.describe(
				"Devices with unknown keys, which get 503 until then; null unless you are an administrator",
			),
		enrollment_keys_ending: z
			.object({ running_out: z.int(), ended: z.int() })
			.nullable()
			.describe(
				"Enrollment keys that run out soon, or ended in the last 14 days; null unless you are an administrator",
			),
		...personalShape,
		recently_changed: z.array(
			z.object({
				kind: z.string(),
				id: z.string(),
				name: z.string().nullable(),
				is_new: z.boolean().describe("Not changed since it was added"),
				updated_at: z.string(),
			}),
		),
	}),
	run: async ({ client, membership, principal }, input) => {
		const organization = input.organization_id;
		const today = input.today ?? (await readToday(client));
		const soon = dayAfter(today, DUE_SOON_DAYS);
		const isAdmin = membership.role === "admin";
		const [
			open,
			reminders,
			risks,
			failing,
			contradicted,
			tokens,
			exceptions,
			unknown,
			keys,
			recent,
			personal,
		] = await Promise.all([
			countWork(client, organization, today, soon),
			countReminders(client, organization, today, soon),
			countRisks(client, organization),
			findFailingChecks(client, organization, "LONGEST"),
			findContradicted(client, organization),
			isAdmin ? countOldTokens(client) : null,
			isAdmin ? countRequestedExceptions(client, organization) : null,
			isAdmin ? countUnknownKeys(client) : null,
			isAdmin ? countEndingKeys(client, organization) : null,
			findRecent(client, organization),
			readPersonal(client, organization, principal.userId, today),
		]);
		return {
			today,
			overdue_until: dayAfter(today, -1),
			soon_until: soon,
			...open,
			reminders,
			risks,
			failing_longest: failing,
			contradicted_measures: contradicted,
			old_api_tokens: tokens,
			exceptions_to_decide: exceptions,
			unknown_device_keys: unknown,
			enrollment_keys_ending: keys,
			...personal,
			recently_changed: recent,
		};
	},
});

/** The last day whose year has four digits. A later day is replaced by this one. */
const LAST_DAY = Date.UTC(9999, 11, 31);

function dayAfter(day: string, days: number): string {
	const time = Date.parse(`${day}T00:00:00Z`) + days * DAY_MS;
	return new Date(Math.min(time, LAST_DAY)).toISOString().slice(0, 10);
}

type Work = z.output<typeof work>;
type WorkByRegister = Record<
	"nonconformities" | "tasks" | "obligations" | "continual_improvements",
	Work
>;

async function countWork(
	client: PoolClient,
	organization: string,
	today: string,
	soon: string,
): Promise<WorkByRegister> {
	const texts = WORK.map(({ table, due }) => {
		if (!due) throw new Error(`the register ${table} has no due date`);
		return `select '${table}' as register,
			count(*)::int as open,
			(count(*) filter (where t.${due.date} < $2::date))::int as overdue,
			(count(*) filter (where t.${due.date} between $2::date and $3::date))::int as due_soon
		from ${table} t
		where t.organization_id = $1 and t.${due.done.field} <> '${due.done.value}'`;
	});
	const { rows } = await client.query<Work & { register: string }>({
		name: "overview.work",
		text: texts.join(" union all "),
		values: [organization, today, soon],
	});
	// There is a row for each register of WORK.
	return Object.fromEntries(
		rows.map(({ register, ...counts }) => [register, counts]),
	) as unknown as WorkByRegister;
}

/** Counts the records of each register whose review, notice or expiry is overdue or soon due. */
async function countReminders(
	client: PoolClient,
	organization: string,
	today: string,
	soon: string,
) {
	const texts = dueDates
		.filter(({ isWork }) => !isWork)
		.map(
			// The index for ordering by this date has the same expression.
			({ kind: { table }, register, date, open }) => `
				select '${register}' as register, '${date}' as field,
					(count(*) filter (where t.${date} < $2::date))::int as overdue,
					(count(*) filter (where t.${date} >= $2::date))::int as due_soon
				from ${table} t
				where t.organization_id = $1 and ${orInfinity(date, "date")} <= $3::date and ${open}`,
		);
	const { rows } = await client.query<{
		register: string;
		field: string;
		overdue: number;
		due_soon: number;
	}>({
		name: "overview.reminders",
		text: texts.join(" union all "),
		values: [organization, today, soon],
	});
	return rows.filter(({ overdue, due_soon }) => overdue + due_soon > 0);
}

async function findContradicted(client: PoolClient, organization: string) {
	const { rows } = await client.query<{
		id: string;
		name: string;
		check_key: string;
		pass_percent: number | null;
		required_percent: number;
	}>({
		name: "overview.contradicted",
		text: `
			select t.id, t.name, t.verified_by_check as check_key, ${measurePercentSql("t")} as pass_percent,
				t.verified_by_percent as required_percent
			from measures t
			where t.organization_id = $1 and t.archived_at is null and ${isContradictedSql("t")}
			order by t.name_key, t.id
			limit ${MAX_NAMED}`,
		values: [organization],
	});
	return rows.map((row) => ({ ...row, check_name: checkName(row.check_key) }));
}

/**
 * Counts old API tokens. Row-level security shows only tokens of the organization's members that
 * reach the organization.
 */
async function countOldTokens(client: PoolClient): Promise<number> {
	const { rows } = await client.query<{ tokens: number }>({
		name: "overview.tokens",
		text: `
			select count(*)::int as tokens
			from api_tokens t
			join memberships m on m.user_id = t.user_id
				and m.organization_id = current_setting('assay.organization_id')
			where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
				and t.created_at < now() - interval '${OLD_TOKEN_DAYS} days'
				-- An app gets a new secret every hour.
				and t.secret_ends_at is null`,
	});
	return rows[0]?.tokens ?? 0;
}

async function countRequestedExceptions(
	client: PoolClient,
	organization: string,
): Promise<number> {
	const { rows } = await client.query<{ count: number }>({
		name: "overview.exceptions",
		text: `
			select count(*)::int as count from device_exceptions t
			where t.organization_id = $1 and ${EXCEPTION_STATUS} = 'REQUESTED'`,
		values: [organization],
	});
	return rows[0]?.count ?? 0;
}

/** Counts the devices that use unknown keys. Returns null while such keys get 401. */
async function countUnknownKeys(client: PoolClient) {
	const { rows } = await client.query<{
		knocking: number;
		waits_until: string | null;
	}>({
		name: "overview.unknown_keys",
		text: "select knocking, waits_until from unknown_key_state()",
	});
	return rows[0] ?? null;
}

/**
 * Returns the records that changed last. The newest records of each register are at the end of its
 * index, so the query reads only a few rows of each register.
 */
async function findRecent(client: PoolClient, organization: string) {
	const lastOf = (definition: AnyRecordKind) => `(
		select '${definition.kind}' as kind, t.id, left(${nameSql(definition, "t")}, 1000) as name,
			t.updated_at, t.created_at = t.updated_at as is_new
		from ${definition.table} t where t.organization_id = $1
		order by t.updated_at desc, t.id desc limit ${MAX_NAMED})`;
	const { rows } = await client.query<{
		kind: string;
		id: string;
		name: string | null;
		updated_at: string;
		is_new: boolean;
	}>({
		name: "overview.recent",
		text: `${recordKinds.map(lastOf).join(" union all ")} order by updated_at desc, id desc limit ${MAX_NAMED}`,
		values: [organization],
	});
	return rows;
}
