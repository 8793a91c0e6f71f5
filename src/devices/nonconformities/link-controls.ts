import type { Context } from "../../operation.ts";
import { storeLinks } from "../../records/link-new-records.ts";
import { CHECK_MAPPING, TESTED_BY } from "../check-controls.ts";

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
		`select distinct c.id, c.name from ${CHECK_MAPPING}
		join frameworks f on f.organization_id = $1
		join controls c on c.organization_id = $1 and c.framework_id = f.id
		where m.check_key = $2 and c.status = 'INCLUDED' and ${TESTED_BY}
		order by c.id limit ${MAX_CONTROLS}`,
		[membership.organizationId, checkKey],
	);
	await storeLinks(
		context,
		{ kind: "nonconformity", id, name },
		rows.map((row) => ({ ...row, kind: "control" as const })),
	);
}
