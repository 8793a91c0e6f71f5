import type { Context } from "../../operation.ts";
import { storeLinks } from "../../records/link-new-records.ts";
import { checksOfAnyControl } from "../check-controls.ts";

/** Largest number of controls that a new nonconformity is linked to. */
const MAX_CONTROLS = 50;

/** Links a new nonconformity to the controls that its check tests. */
export async function linkControls(
	context: Context,
	{ id, name }: { id: string; name: string },
	checkKey: string,
): Promise<void> {
	const { client, membership } = context;
	const { rows } = await client.query<{ id: string; name: string }>(
		`select c.id, c.name from controls c
		where c.organization_id = $1 and c.status = 'INCLUDED' and $2 = any(${checksOfAnyControl("c")})
		order by c.id limit ${MAX_CONTROLS}`,
		[membership.organizationId, checkKey],
	);
	await storeLinks(
		context,
		{ kind: "nonconformity", id, name },
		rows.map((row) => ({ ...row, kind: "control" as const })),
	);
}
