import { z } from "zod";
import {
	type CheckCounts,
	checkResult,
	resultOf,
} from "../devices/check-results/counts.ts";
import { readLatest } from "../devices/check-results/operations.ts";
import { badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { type Context, defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "../records/as-of.ts";
import { readCursor, writeCursor } from "../records/cursor.ts";
import { type Order, pageCursor, pageSize } from "../records/list-pages.ts";
import { DEFAULT_PAGE_SIZE } from "../records/page-sizes.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { existing } from "../records/store.ts";
import { idSchema, textSchema } from "../records/text-schemas.ts";
import { framework } from "../registers/framework.ts";
import {
	APPROVAL_COLUMNS,
	type Approval,
	approval,
	MAX_VERSIONS,
	readApproval,
	readApproved,
	requireApprovable,
} from "./approvals.ts";
import {
	type ApplicableControl,
	applicableControl,
	asStored,
	countChangedRisks,
	countUndecided,
	countUnjustified,
	hashOf,
	readStatement,
} from "./statement.ts";

const frameworkId = () =>
	idSchema("framework").meta(obvious("Id of the framework"));

const BY_PLACE: Order = {
	expression: "place",
	type: "integer",
	direction: "ASC",
};

const getStatementOfApplicability = defineOperation({
	name: "getStatementOfApplicability",
	title: "Get a statement of applicability",
	description:
		"Read which controls of a framework apply, why or why not, what is linked to each, and who approved it.",
	toolset: "applicability",
	access: "read",
	tenant: "framework_id",
	input: z.strictObject({
		framework_id: frameworkId(),
		version_number: z
			.int()
			.min(1)
			.max(1_000_000)
			.optional()
			.describe("Approved version; the present by default"),
		size: pageSize("Controls"),
		cursor: pageCursor(),
		...asOfShape,
	}),
	output: z.object({
		framework: z.object({
			id: z.string(),
			name: z.string(),
			version: z.string().nullable(),
		}),
		included: z.int().describe("Controls that apply"),
		excluded: z.int(),
		controls: z.array(applicableControl),
		checks: z
			.array(checkResult)
			.describe(
				"Last results of the checks that test these controls; of an approved version, those at its approval, and none if it did not keep them",
			),
		sha256: z
			.string()
			.describe(
				"Hash of what is decided; approveStatementOfApplicability needs it",
			),
		approval: approval
			.nullable()
			.describe("Of this version, or the last one of the statement of now"),
		is_changed: z
			.boolean()
			.describe("It differs from the approved version, or none is approved"),
		changed_risks: z
			.int()
			.describe("Controls with other risks or obligations than approved"),
		without_justification: z
			.int()
			.describe(
				"Controls that nothing says why they apply or not: no reason, risk or obligation",
			),
		only_undecided_risks: z
			.int()
			.describe(
				"Controls that nothing justifies but risks that nobody has decided about",
			),
		next_cursor: z.string().nullable(),
	}),
	run: async (context, input) => {
		const { version_number: version, as_of: asOf } = input;
		if (version !== undefined && asOf !== undefined) {
			throw badFields([
				{
					field: "as_of",
					message: "must be left out together with version_number",
				},
			]);
		}
		const then = await contextAsOf(context, asOf);
		const found = await existing(then, framework, input.framework_id);
		const read = await readVersion(then, input);
		const { controls, approved, sha256 } = read;
		const { name, version: edition } = read.framework ?? found;
		const cursorOf = `getStatementOfApplicability.${input.framework_id}.${version ?? ""}.${asOf ?? ""}`;
		const place = input.cursor
			? Number(readCursor(input.cursor, cursorOf, BY_PLACE).value)
			: 0;
		const size = input.size ?? DEFAULT_PAGE_SIZE;
		const page = controls.slice(place, place + size);
		const next = place + page.length;
		const { counts } = read;
		const keys = new Set(counts ? page.flatMap(({ checks }) => checks) : []);
		const included = controls.filter(({ applies }) => applies).length;
		return {
			framework: {
				id: input.framework_id,
				name: String(name),
				version: (edition as string | null) ?? null,
			},
			included,
			excluded: controls.length - included,
			controls: page,
			checks: [...keys].sort().map((key) => resultOf(key, counts ?? {})),
			sha256,
			approval: approved ?? null,
			is_changed: approved?.sha256 !== sha256,
			changed_risks: read.changedRisks,
			without_justification: read.unjustified,
			only_undecided_risks: read.undecided,
			next_cursor:
				next < controls.length
					? writeCursor(cursorOf, {
							value: String(next),
							id: input.framework_id,
							counted: controls.length,
						})
					: null,
		};
	},
});

/** Reads the statement of now with its last approval, or an approved version. */
async function readVersion(
	{ client, membership }: Context,
	input: {
		framework_id: string;
		version_number?: number | undefined;
	},
): Promise<{
	controls: ApplicableControl[];
	/** Names the framework as an approved version does. */
	framework?: { name: string; version: string | null };
	/** The counts of device checks, or null for a version that did not keep them. */
	counts: CheckCounts | null;
	approved: Approval | undefined;
	sha256: string;
	changedRisks: number;
	unjustified: number;
	undecided: number;
}> {
	const { organizationId } = membership;
	const { framework_id: id, version_number: version } = input;
	if (version === undefined) {
		const controls = await readStatement(client, organizationId, id);
		const approved = await readApproval(client, organizationId, id);
		const before =
			approved && (await readApproved(client, organizationId, id, approved));
		const { counts } = await readLatest(client);
		return {
			controls,
			counts,
			approved,
			sha256: hashOf(controls),
			changedRisks: countChangedRisks(controls, before?.controls ?? []),
			unjustified: countUnjustified(controls),
			undecided: countUndecided(controls),
		};
	}
	const found = await readApproved(client, organizationId, id, {
		version_number: version,
	});
	if (!found) {
		throw badFields([
			{
				field: "version_number",
				message: `there is no approved version ${version}; listStatementApprovals returns the versions`,
			},
		]);
	}
	const {
		controls,
		check_counts: counts,
		framework_name: name,
		framework_version: edition,
		...approved
	} = found;
	return {
		framework: { name, version: edition },
		controls: controls.map(asStored),
		counts,
		approved,
		sha256: approved.sha256,
		changedRisks: 0,
		unjustified: countUnjustified(controls),
		undecided: countUndecided(controls),
	};
}

const listStatementApprovals = defineOperation({
	name: "listStatementApprovals",
	title: "List approved statements of applicability",
	description: `List the approved versions of a framework's statement of applicability, newest first; at most ${MAX_VERSIONS}.`,
	toolset: "applicability",
	access: "read",
	tenant: "framework_id",
	input: z.strictObject({ framework_id: frameworkId() }),
	output: z.object({ approvals: z.array(approval) }),
	run: async (context, { framework_id }) => {
		await existing(context, framework, framework_id);
		const { client, membership } = context;
		const { rows } = await client.query<Approval>(
			`select ${APPROVAL_COLUMNS} from applicability_statements t
			where t.organization_id = $1 and t.framework_id = $2
			order by t.version_number desc limit ${MAX_VERSIONS}`,
			[membership.organizationId, framework_id],
		);
		return { approvals: rows };
	},
});

const approveStatementOfApplicability = defineOperation({
	name: "approveStatementOfApplicability",
	title: "Approve a statement of applicability",
	description:
		"Approve the statement of applicability of a framework as its next version. sha256 says which statement was read: if it has changed since, nothing is approved.",
	toolset: "applicability",
	access: "write",
	tenant: "framework_id",
	input: z.strictObject({
		framework_id: frameworkId(),
		sha256: z
			.string()
			.regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits")
			.describe("sha256 of the statement, from getStatementOfApplicability"),
		note: textSchema(5000).nullable().optional().meta(obvious("What is new")),
	}),
	output: z.object({ approval }),
	run: async (context, { framework_id: id, sha256, note = null }) => {
		const { client, membership, principal } = context;
		const { organizationId } = membership;
		// The lock lets one approval of the framework at a time read the last one.
		const found = await existing(context, framework, id, "for update");
		const controls = await readStatement(client, organizationId, id);
		const last = await readApproval(client, organizationId, id);
		requireApprovable(controls, sha256, last);
		const version = (last?.version_number ?? 0) + 1;
		const { counts } = await readLatest(client);
		const { rows } = await client.query<Approval>(
			`insert into applicability_statements as t
				(organization_id, id, framework_id, version_number, controls, sha256, note, approved_by_id,
				approved_by_name, check_counts, framework_name, framework_version)
			values ($1, $2, $3, $4, $5, decode($6, 'hex'), $7, $8, $9, $10, $11, $12)
			returning ${APPROVAL_COLUMNS}`,
			[
				organizationId,
				makeId(organizationId, "applicability_statement"),
				id,
				version,
				JSON.stringify(controls),
				sha256,
				note,
				principal.userId,
				principal.name,
				JSON.stringify(countsOf(controls, counts)),
				found.name,
				found.version,
			],
		);
		if (!rows[0]) throw new Error("the approval was not stored");
		context.changed({
			kind: "framework",
			id,
			name: String(found.name),
			fields: {
				statement_of_applicability: { after: { version, sha256 } },
				...(note && { note: { after: note } }),
			},
		});
		return { approval: rows[0] };
	},
});

/** Returns the counts of the checks that test the controls. */
function countsOf(
	controls: readonly ApplicableControl[],
	counts: CheckCounts,
): CheckCounts {
	const keys = new Set(controls.flatMap(({ checks }) => checks));
	return Object.fromEntries(
		Object.entries(counts).filter(([key]) => keys.has(key)),
	);
}

export const applicabilityOperations = [
	getStatementOfApplicability,
	listStatementApprovals,
	approveStatementOfApplicability,
] as const;
