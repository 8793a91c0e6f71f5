import type { FieldIssue } from "../errors.ts";
import type {
	FindReserved,
	RecordUpdate,
} from "../records/reserved-updates.ts";

/**
 * Finds the updates that remove approvers from a document with a version, which only an administrator
 * may do. Otherwise a member could remove the approvers of a draft, and publish it alone.
 */
export const findLostApprovers: FindReserved = async (
	client,
	organizationId,
	updates,
) => {
	const losing = updates.filter(({ before, values }) => {
		const { approver_ids: left } = values;
		return (
			Array.isArray(left) &&
			(before.approver_ids as string[]).some((id) => !left.includes(id))
		);
	});
	if (losing.length === 0) return new Map();
	const { rows } = await client.query<{ id: string }>({
		name: "documents.with_versions",
		text: `
			select d.id from unnest($2::text[]) d (id)
			where exists (
				select from document_versions v where v.organization_id = $1 and v.document_id = d.id
			)`,
		values: [organizationId, losing.map(({ before }) => before.id)],
	});
	const drafted = new Set(rows.map(({ id }) => id));
	return new Map(
		losing
			.filter(({ before }) => drafted.has(String(before.id)))
			.map((update): [RecordUpdate, FieldIssue] => [
				update,
				{
					field: "approver_ids",
					message:
						"the document has a version already, so only an administrator can remove its approvers",
				},
			]),
	);
};
