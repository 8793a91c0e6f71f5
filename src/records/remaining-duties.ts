import { z } from "zod";
import { readOwnedRules } from "../devices/hand-over-rules.ts";
import { isInForce } from "../documents/wanted-signatures.ts";
import type { Context } from "../operation.ts";

/** Most records that the answer names. */
const MAX_NAMED = 20;

const WAYS = [
	"owner_of_nonconformities",
	"approver",
	"signer",
	"claimed_owner",
] as const;

export const remainingDuties = z.array(
	z.object({
		kind: z.string(),
		as: z.enum(WAYS),
		count: z.int(),
		records: z
			.array(z.object({ id: z.string(), name: z.string().nullable() }))
			.describe(`The first ${MAX_NAMED}; of a device policy, the checks`),
	}),
);
type Left = z.output<typeof remainingDuties>[number];

const DOCUMENTS = {
	approver: `
		select d.id, d.title as name from document_approvers a
		join documents d on d.organization_id = a.organization_id and d.id = a.document_id
		where a.organization_id = $1 and a.person_id = $2 and d.archived_at is null`,
	signer: `
		select distinct d.id, d.title as name from document_signatures s
		join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
		join documents d on d.organization_id = v.organization_id and d.id = v.document_id
		where s.organization_id = $1 and s.person_id = $2 and s.state = 'REQUESTED'
			and ${isInForce("v")}`,
};

/**
 * Returns what somebody still has to decide after a hand over: who approves a document, who signs
 * instead, and who owns a claimed device. If the caller is not an administrator, the rules of
 * checks are left too.
 */
export async function readRemainingDuties(
	{ client, membership }: Context,
	person: string,
): Promise<Left[]> {
	const { organizationId } = membership;
	const read = async (kind: string, as: Left["as"], sql: string) => {
		const { rows } = await client.query<{
			id: string;
			name: string | null;
			count: number;
		}>(
			`select r.id, left(r.name, 1000) as name, count(*) over ()::int as count from (${sql}) r
			order by r.name, r.id limit ${MAX_NAMED}`,
			[organizationId, person],
		);
		const count = rows[0]?.count ?? 0;
		return {
			kind,
			as,
			count,
			records: rows.map(({ id, name }) => ({ id, name })),
		};
	};
	const rules = await readOwnedRules(client, organizationId, person);
	const left: Left[] = [
		{
			kind: "device_policy",
			as: "owner_of_nonconformities",
			count: rules.length,
			records: rules.slice(0, MAX_NAMED),
		},
		await read("document", "approver", DOCUMENTS.approver),
		await read("document", "signer", DOCUMENTS.signer),
		await read(
			"device",
			"claimed_owner",
			`select d.id, coalesce(d.name, d.hostname) as name from devices d
			where d.organization_id = $1 and d.claimed_owner_id = $2 and d.owner_id is null`,
		),
	];
	return left.filter(({ count }) => count > 0);
}
