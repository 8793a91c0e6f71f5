import type { Context } from "../operation.ts";
import { personOf } from "../organizations/person-of-member.ts";
import type { Version } from "./versions.ts";

export interface Approver {
	id: string;
	name: string;
	has_approved: boolean;
	may_decide: boolean;
	/** What the approver did to the text of the version, if anything. */
	wrote: "AUTHOR" | "EDITOR" | null;
}

/** Returns the approvers that the document has now. */
export async function readApprovers(
	{ client, membership }: Context,
	{ id, document_id }: Pick<Version, "id" | "document_id">,
): Promise<Approver[]> {
	const { rows } = await client.query<Approver>(
		`select p.id, p.full_name as name,
			exists (
				select from document_approvals d
				where d.organization_id = $1 and d.version_id = $2 and d.person_id = p.id
					and d.decision = 'APPROVED' and d.is_current
			) as has_approved,
			exists (
				select from users u
				join memberships m on m.organization_id = $1 and m.user_id = u.id
				where ${personOf("p", "u", "$1")} and m.role <> 'viewer'
					and is_live_membership(m.organization_id, m.ends_on)
			) as may_decide,
			(
				select case when u.id = v.author_id then 'AUTHOR' else 'EDITOR' end
				from document_versions v
				join users u on u.id = any(array_append(v.editor_ids, v.author_id))
				where v.organization_id = $1 and v.id = $2 and ${personOf("p", "u", "$1")}
				limit 1
			) as wrote
		from document_approvers a
		join people p on p.organization_id = a.organization_id and p.id = a.person_id
		where a.organization_id = $1 and a.document_id = $3
		order by p.full_name, p.id`,
		[membership.organizationId, id, document_id],
	);
	return rows;
}

/** What somebody did who cannot approve a version. */
export const WROTE = { AUTHOR: "wrote", EDITOR: "changed the text of" };

/** Says of each approver who could never approve the version why not. */
export function obstaclesOf(approvers: readonly Approver[]): string[] {
	return approvers.flatMap(({ name, may_decide, wrote }) =>
		wrote
			? `${name} ${WROTE[wrote]} this version and cannot approve it`
			: may_decide
				? []
				: `${name} has no account here that may approve; invite this person as a member`,
	);
}
