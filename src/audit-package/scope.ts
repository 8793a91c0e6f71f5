import type { PoolClient } from "pg";
import { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { readToday } from "../organizations/time-zone.ts";
import { dateSchema, idSchema } from "../records/text-schemas.ts";
import { countFiles } from "./chosen-files.ts";

/**
 * Most files of documents and evidence in a package. The service keeps a line about each of them in
 * memory until the package ends.
 */
export const MAX_FILES = 20_000;

/** First and last day whose bounds have a year of four digits in every time zone. */
const EARLIEST = "1900-01-02";
const LATEST = "9999-12-30";

/** The input of a request: the package of an audit, or of a period. */
export const scopeInput = {
	audit_id: idSchema("audit")
		.optional()
		.describe(
			"Audit that the package is for. It sets the framework. By default, the period is that in which the audit is valid",
		),
	from: dateSchema().optional().describe("First day of the period"),
	until: dateSchema().optional().describe("Last day of the period"),
	with_files: z
		.boolean()
		.default(true)
		.describe("false leaves out the contents of the files of evidence"),
};
type Asked = z.output<z.ZodObject<typeof scopeInput>>;

/** The contents that a package is made of: its organization, audit and period. */
export const packageScope = z.object({
	organizationId: z.string(),
	auditId: z.string().nullable(),
	from: z.string(),
	until: z.string(),
	withFiles: z.boolean(),
});
export type PackageScope = z.output<typeof packageScope>;

/** The record for which a package is made, and the moments between which its period lies. */
export interface Subject {
	organization: string;
	timeZone: string;
	audit: {
		id: string;
		name: string | null;
		framework_id: string;
		framework: string;
	} | null;
	/** First moment of the period, and the first moment after it. */
	begin: string;
	end: string;
	isOver: boolean;
	/** Moment of which the package is. */
	now: string;
}

/**
 * Completes the period from the audit. Throws bad_request if it is not known or begins after today,
 * or if the package would have too many files, and not_found if there is no such audit.
 */
export async function resolveScope(
	client: PoolClient,
	organizationId: string,
	asked: Asked,
): Promise<{ scope: PackageScope; subject: Subject }> {
	const auditId = asked.audit_id ?? null;
	const audit = auditId
		? await readValidity(client, organizationId, auditId)
		: undefined;
	const from = asked.from ?? audit?.valid_from;
	const until = asked.until ?? audit?.valid_until;
	if (!from || !until) {
		const message = audit
			? "must be given, because the audit has no such day of validity"
			: "must be given, unless audit_id names an audit with days of validity";
		throw badFields([{ field: from ? "until" : "from", message }]);
	}
	if (from > until) {
		throw badFields([
			{ field: "until", message: "must not be before the first day" },
		]);
	}
	if (from > (await readToday(client))) {
		throw badFields([{ field: "from", message: "must not be after today" }]);
	}
	for (const [field, day] of Object.entries({ from, until })) {
		if (day < EARLIEST || day > LATEST) {
			throw badFields([
				{ field, message: `must be from ${EARLIEST} to ${LATEST}` },
			]);
		}
	}
	const { with_files: withFiles } = asked;
	const scope = { organizationId, auditId, from, until, withFiles };
	const subject = await readSubject(client, scope);
	const files = await countFiles(client, scope, subject);
	if (files > MAX_FILES) {
		throw new AppError(
			"bad_request",
			`the package would have ${files} documents and files of evidence, and at most ${MAX_FILES} are possible; choose a shorter period, or leave out the files of evidence`,
		);
	}
	return { scope, subject };
}

async function readValidity(
	client: PoolClient,
	organization: string,
	id: string,
) {
	const { rows } = await client.query<{
		valid_from: string | null;
		valid_until: string | null;
	}>(
		`select valid_from::text, valid_until::text from audits
		where organization_id = $1 and id = $2`,
		[organization, id],
	);
	if (!rows[0]) throw notFound(id);
	return rows[0];
}

/** Throws not_found if the organization or the audit is gone. */
export async function readSubject(
	client: PoolClient,
	{ organizationId, auditId, from, until }: PackageScope,
): Promise<Subject> {
	const { rows } = await client.query<Subject>(
		`select o.name as organization, o.time_zone as "timeZone",
			p.begin, p."end", p."end" <= now() as "isOver", now() as now,
			case when a.id is not null then jsonb_build_object(
				'id', a.id, 'name', a.name, 'framework_id', f.id,
				'framework', concat_ws(' ', f.name, f.version)
			) end as audit
		from organizations o
		cross join lateral (
			select $3::date::timestamp at time zone o.time_zone as begin,
				($4::date + 1)::timestamp at time zone o.time_zone as "end"
		) p
		left join audits a on a.organization_id = o.id and a.id = $2
		left join frameworks f on f.organization_id = o.id and f.id = a.framework_id
		where o.id = $1`,
		[organizationId, auditId, from, until],
	);
	const [found] = rows;
	if (!found || (auditId && !found.audit)) {
		throw notFound(auditId ?? organizationId);
	}
	return found;
}
