import { z } from "zod";
import type { CheckCounts } from "../devices/check-results/counts.ts";
import { AppError } from "../errors.ts";
import type { Context } from "../operation.ts";
import { type ApplicableControl, hashOf } from "./statement.ts";

/** Most approved versions of the statement of one framework. */
export const MAX_VERSIONS = 500;

export const approval = z.object({
	version_number: z.int(),
	sha256: z.string(),
	note: z.string().nullable(),
	approved_by: z.string(),
	approved_at: z.string(),
});
export type Approval = z.output<typeof approval>;

export const APPROVAL_COLUMNS = `t.version_number, encode(t.sha256, 'hex') as sha256, t.note,
	t.approved_by_name as approved_by, t.created_at as approved_at`;

type ApprovedVersion = Approval & {
	controls: ApplicableControl[];
	check_counts: CheckCounts | null;
	framework_name: string;
	framework_version: string | null;
};

/** Reads an approved version with its controls. */
export async function readApproved(
	client: Context["client"],
	organizationId: string,
	id: string,
	{ version_number: version }: Pick<Approval, "version_number">,
): Promise<ApprovedVersion | undefined> {
	const { rows } = await client.query<ApprovedVersion>(
		`select ${APPROVAL_COLUMNS}, t.controls, t.check_counts, t.framework_name, t.framework_version
		from applicability_statements t
		where t.organization_id = $1 and t.framework_id = $2 and t.version_number = $3`,
		[organizationId, id, version],
	);
	return rows[0];
}

/** Reads the last approval of a framework's statement. */
export async function readApproval(
	client: Context["client"],
	organizationId: string,
	id: string,
): Promise<Approval | undefined> {
	const { rows } = await client.query<Approval>(
		`select ${APPROVAL_COLUMNS} from applicability_statements t
		where t.organization_id = $1 and t.framework_id = $2
		order by t.version_number desc limit 1`,
		[organizationId, id],
	);
	return rows[0];
}

/** Throws an error unless the statement may be approved as its next version. */
export function requireApprovable(
	controls: readonly ApplicableControl[],
	sha256: string,
	last: Approval | undefined,
): void {
	if (hashOf(controls) !== sha256) {
		throw new AppError(
			"conflict",
			"the statement has changed since it was read; read it again, and approve what it says now",
		);
	}
	if (controls.length === 0) {
		throw new AppError(
			"bad_request",
			"the framework has no controls, so there is nothing to approve",
		);
	}
	if (last?.sha256 === sha256) {
		throw new AppError(
			"conflict",
			`version ${last.version_number} is approved already, and nothing has changed since`,
		);
	}
	if ((last?.version_number ?? 0) >= MAX_VERSIONS) {
		throw new AppError(
			"bad_request",
			`the statement has ${MAX_VERSIONS} approved versions, which is the maximum`,
		);
	}
}
