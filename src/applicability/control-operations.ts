import type { PoolClient } from "pg";
import { z } from "zod";
import { measurePercentSql } from "../devices/check-results/verification.ts";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import { contextAsOf } from "../records/as-of.ts";
import { recordOperations } from "../records/operations.ts";
import { control } from "../registers/control.ts";
import {
	applicableControl,
	controlMeasure,
	implementationOf,
	measuresOf,
} from "./statement.ts";

const [list, getWithoutMeasures, add, update, remove] =
	recordOperations(control);

const verifiedMeasure = controlMeasure.extend({
	verified_by_check: z.string().nullable(),
	verified_by_percent: z.int(),
	pass_percent: z
		.number()
		.nullable()
		.describe("Devices that pass its check, as in getCheckResults"),
});
type VerifiedMeasure = z.output<typeof verifiedMeasure>;

const VERIFIED_MEASURES = measuresOf(`
	'verified_by_check', m.verified_by_check, 'verified_by_percent', m.verified_by_percent,
	'pass_percent', ${measurePercentSql("m")}`);

/**
 * Replaces the ordinary getControl. Beside the control, which is the same as in the results of other
 * operations, it says how far the measures implement it, and names them.
 */
const getControl = defineOperation({
	...getWithoutMeasures,
	description: "Read a control and its measures.",
	output: z.object({
		...getWithoutMeasures.output.shape,
		coverage: z.object({
			implementation: applicableControl.shape.implementation,
			measures: z
				.array(verifiedMeasure)
				.describe("Measures linked to it that are not archived"),
		}),
	}),
	run: async (context, input) => {
		const { client, membership } = await contextAsOf(context, input.as_of);
		const { control } = await getWithoutMeasures.run(context, input);
		const linked = await readMeasures(
			client,
			membership.organizationId,
			input.id,
		);
		return {
			control,
			coverage: {
				implementation: implementationOf(linked),
				measures: linked.measures,
			},
		};
	},
});

async function readMeasures(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<{ applies: boolean; measures: VerifiedMeasure[] }> {
	const { rows } = await client.query<{
		applies: boolean;
		measures: VerifiedMeasure[];
	}>({
		name: "control_measures",
		text: `
			select c.status = 'INCLUDED' as applies, ${VERIFIED_MEASURES} as measures
			from controls c where c.organization_id = $1 and c.id = $2`,
		values: [organizationId, id],
	});
	const [row] = rows;
	if (!row) throw notFound(id);
	return row;
}

export const controlOperations = [
	list,
	getControl,
	add,
	update,
	remove,
] as const;
