import { createHash } from "node:crypto";
import type { PoolClient } from "pg";
import { z } from "zod";
import { checksOfControl, mappingOf } from "../devices/check-controls.ts";
import { coveringStateSql } from "../devices/check-results/verification.ts";
import { AppError } from "../errors.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { IS_UNDECIDED_SQL } from "../starters/undecided.ts";

/** Most controls of a framework whose statement can be made. NIST SP 800-53 has about 1,200. */
export const MAX_CONTROLS = 2000;

const named = z.object({ id: z.string(), name: z.string() });

/** The states of the implementation of a control, as the coverage of a framework counts them. */
const IMPLEMENTATIONS = [
	"IMPLEMENTED",
	"PARTLY_IMPLEMENTED",
	"CONTRADICTED",
	"IN_PROGRESS",
	"NOT_STARTED",
	"NONE",
] as const;

/** A measure that is linked to a control. */
export const controlMeasure = named.extend({
	state: z
		.string()
		.describe("CONTRADICTED: IMPLEMENTED, but device checks differ"),
});

export const applicableControl = z.object({
	id: z.string(),
	section_title: z.string(),
	name: z.string(),
	applies: z.boolean(),
	justification: z
		.string()
		.nullable()
		.describe("Why it does not apply, or null"),
	inclusion_justification: z
		.string()
		.nullable()
		.describe("Why it applies, in words, or null"),
	risks: z
		.array(
			named.extend({
				is_undecided: z
					.boolean()
					.describe("Suggested, and nobody has decided about it"),
			}),
		)
		.describe("Risks that it treats: linked to it or to its measures"),
	obligations: z
		.array(named)
		.describe("Obligations linked to it or to its measures"),
	measures: z.array(controlMeasure).describe("Measures linked to it"),
	documents: z
		.array(named.extend({ published_version: z.int().nullable() }))
		.describe("Documents linked to it"),
	evidence: z.array(named).describe("Valid evidence, own or of its measures"),
	implementation: z
		.enum(IMPLEMENTATIONS)
		.nullable()
		.describe(
			"By its measures that apply: all IMPLEMENTED, some, or the best state; NONE: it has none; null: it does not apply, or an older version did not say",
		),
	checks: z
		.array(z.string())
		.describe("Keys of the device checks that test it"),
});
export type ApplicableControl = z.output<typeof applicableControl>;

/** Selects the ids of the records linked to the record `id` of the organization $1. */
const linkedTo = (id: string) => `
	select k.second_id as id from record_links k where k.organization_id = $1 and k.first_id = ${id}
	union all
	select k.first_id from record_links k where k.organization_id = $1 and k.second_id = ${id}`;

const list = (object: string, from: string, order: string) => `(
	select coalesce(jsonb_agg(jsonb_build_object(${object}) order by ${order}), '[]') from ${from}
)`;

/**
 * Returns SQL of the measures linked to the control `c` of the organization $1, as JSON. `more` is
 * SQL of further names and values of the measure `m`.
 */
export const measuresOf = (more?: string) =>
	list(
		[
			`'id', m.id, 'name', m.name, 'state', ${coveringStateSql("m")}`,
			...(more ? [more] : []),
		].join(", "),
		`(${linkedTo("c.id")}) l join measures m on m.organization_id = $1 and m.id = l.id
		where m.archived_at is null`,
		"m.name_key, m.id",
	);

const DOCUMENTS = list(
	`'id', d.id, 'name', d.title, 'published_version', (
		select max(v.version_number) from document_versions v
		where v.organization_id = $1 and v.document_id = d.id and v.status = 'PUBLISHED'
	)`,
	`(${linkedTo("c.id")}) l join documents d on d.organization_id = $1 and d.id = l.id`,
	"d.title_key, d.id",
);

/** Selects the ids of the records linked to the control `c` or to one of its measures, each once. */
const BEHIND = `(
	${linkedTo("c.id")}
	union
	select n.id from (${linkedTo("c.id")}) l
	join measures m on m.organization_id = $1 and m.id = l.id and m.archived_at is null
	cross join lateral (${linkedTo("m.id")}) n
)`;

const EVIDENCE = list(
	"'id', e.id, 'name', e.name",
	`${BEHIND} l join evidence e on e.organization_id = $1 and e.id = l.id
	where e.archived_at is null and (e.valid_until is null or e.valid_until >= ${TODAY})`,
	"e.name_key, e.id",
);

const RISKS = list(
	`'id', t.id, 'name', t.name, 'is_undecided', ${IS_UNDECIDED_SQL}`,
	`${BEHIND} l join risks t on t.organization_id = $1 and t.id = l.id
	where t.archived_at is null`,
	"t.name_key, t.id",
);

const OBLIGATIONS = list(
	"'id', o.id, 'name', o.requirement",
	`${BEHIND} l join obligations o on o.organization_id = $1 and o.id = l.id`,
	"o.requirement_key, o.id",
);

/**
 * Reads the statement of applicability of a framework as it is now, the controls by section. Throws
 * bad_request if the framework has too many.
 */
export async function readStatement(
	client: PoolClient,
	organizationId: string,
	frameworkId: string,
): Promise<ApplicableControl[]> {
	const { rows } = await client.query<
		Omit<ApplicableControl, "implementation">
	>({
		name: "statement_of_applicability",
		text: `
			with mapping as materialized (
				select x.* from frameworks f cross join lateral (${mappingOf("f")}) x
				where f.organization_id = $1 and f.id = $2
			)
			select c.id, c.section_title, c.name, c.status = 'INCLUDED' as applies,
				case when c.status = 'EXCLUDED' then c.exclusion_justification end as justification,
				case when c.status = 'INCLUDED' then c.inclusion_justification end as inclusion_justification,
				${RISKS} as risks, ${OBLIGATIONS} as obligations,
				${measuresOf()} as measures, ${DOCUMENTS} as documents, ${EVIDENCE} as evidence,
				${checksOfControl("c", "mapping")} as checks
			from controls c
			where c.organization_id = $1 and c.framework_id = $2
			order by c.section_title_key, c.name_key, c.id
			limit ${MAX_CONTROLS + 1}`,
		values: [organizationId, frameworkId],
	});
	if (rows.length > MAX_CONTROLS) {
		throw new AppError(
			"bad_request",
			`the framework has more than ${MAX_CONTROLS} controls, which is the most that a statement can have`,
		);
	}
	return rows.map((row) => ({ ...row, implementation: implementationOf(row) }));
}

/**
 * Says how far the measures of a control that apply are implemented, as `COVERAGE` does for the
 * coverage of a framework. If none is, the best state counts.
 */
export function implementationOf({
	applies,
	measures,
}: Pick<
	ApplicableControl,
	"applies" | "measures"
>): ApplicableControl["implementation"] {
	if (!applies) return null;
	const states = new Set(measures.map(({ state }) => state));
	states.delete("NOT_APPLICABLE");
	const best = IMPLEMENTATIONS.find((one) => states.has(one)) ?? "NONE";
	return best === "IMPLEMENTED" && states.size > 1
		? "PARTLY_IMPLEMENTED"
		: best;
}

/** Values of a control in a version that was approved before these values existed. */
const EARLIER_CONTROL = {
	inclusion_justification: null,
	obligations: [],
	implementation: null,
};
/** The same for a risk. */
const EARLIER_RISK = { is_undecided: false };

/** Fills in the values that did not exist yet when the version of a control was approved. */
export const asStored = (control: ApplicableControl): ApplicableControl => ({
	...EARLIER_CONTROL,
	...control,
	risks: (control.risks ?? []).map((risk) => ({ ...EARLIER_RISK, ...risk })),
});

/**
 * Returns the SHA-256 of what people decide in a statement: which controls apply, why they do or do
 * not, and the measures and documents for each. Evidence, results of checks, progress, and the
 * risks and obligations behind a control change every day and are not part of it.
 */
export function hashOf(controls: readonly ApplicableControl[]): string {
	const decided = controls.map((control) => [
		control.id,
		control.section_title,
		control.name,
		control.applies,
		control.justification,
		control.measures.map(({ id, name }) => [id, name]),
		control.documents.map(({ id, name }) => [id, name]),
		// Left out if there is none, because older approvals were hashed without it.
		...(control.inclusion_justification === null
			? []
			: [control.inclusion_justification]),
	]);
	return createHash("sha256").update(JSON.stringify(decided)).digest("hex");
}

/**
 * Counts the controls that nothing justifies: those that apply without a reason in words, a risk and
 * an obligation, and those that do not apply without a reason. A control of a version that did not
 * keep why it applies is left out.
 */
export const countUnjustified = (
	controls: readonly Partial<ApplicableControl>[],
) =>
	controls.filter(
		({
			applies,
			justification,
			inclusion_justification,
			risks,
			obligations,
		}) =>
			applies
				? risks?.length === 0 &&
					obligations?.length === 0 &&
					!inclusion_justification
				: !justification,
	).length;

/** Counts the controls that only risks justify which nobody has decided about. */
export const countUndecided = (
	controls: readonly Partial<ApplicableControl>[],
) =>
	controls.filter(
		({ applies, inclusion_justification, risks = [], obligations = [] }) =>
			applies &&
			!inclusion_justification &&
			obligations.length === 0 &&
			risks.length > 0 &&
			risks.every(({ is_undecided }) => is_undecided),
	).length;

/**
 * Returns how many controls have other risks or obligations than in the approved statement. A
 * version that was approved before these were part of a statement counts as equal.
 */
export function countChangedRisks(
	controls: readonly ApplicableControl[],
	approved: readonly Partial<ApplicableControl>[],
): number {
	const idsOf = ({ risks, obligations }: Partial<ApplicableControl>) =>
		[...(risks ?? []), ...(obligations ?? [])]
			.map(({ id }) => id)
			.sort()
			.join();
	const then = new Map(approved.map((one) => [one.id, one]));
	return controls.filter((now) => {
		const before = then.get(now.id);
		return before?.risks !== undefined && idsOf(now) !== idsOf(before);
	}).length;
}
