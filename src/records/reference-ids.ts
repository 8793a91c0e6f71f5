import type { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import { kindNoun, parseId } from "../id.ts";
import type { Context } from "../operation.ts";
import { recordKinds } from "../registers/all.ts";
import type { AnyRecordKind } from "./kind.ts";
import { organizationId } from "./list-pages.ts";
import { obvious } from "./shown-in-tool-list.ts";
import { idSchema, MAX_NAME, nameSchema } from "./text-schemas.ts";

/**
 * Returns the input fields that name a record of this kind: its id or, if the kind has them, its
 * reference id, with the organization.
 */
export function recordInput(kind: AnyRecordKind): {
	id: z.ZodString;
	organization_id?: z.ZodOptional<z.ZodString>;
} {
	const id = idSchema(kind.kind);
	if (!kind.referencePrefix)
		return { id: id.meta(obvious(`Id of the ${kind.noun}`)) };
	return {
		id: nameSchema(MAX_NAME)
			.superRefine((text, context) => {
				if (!parseId(text)) return;
				const [issue] = id.safeParse(text).error?.issues ?? [];
				if (issue) context.addIssue({ code: "custom", message: issue.message });
			})
			.describe(`Id, or reference id such as ${kind.referencePrefix}-001`),
		organization_id: organizationId().optional(),
	};
}

/** Returns the input fields that name a record of any kind, by its id or its reference id. */
export function anyRecordInput(): {
	id: z.ZodString;
	organization_id: z.ZodOptional<z.ZodString>;
} {
	return {
		id: nameSchema(MAX_NAME).meta(
			obvious("Id of a record of any kind, or a reference id"),
		),
		organization_id: organizationId().optional(),
	};
}

/** Returns the id of the record of any kind that a caller named by its id or reference id. */
export async function findIdOfAnyKind(
	context: Context,
	named: string,
): Promise<string> {
	if (parseId(named)) return named;
	const found: string[] = [];
	for (const kind of recordKinds) {
		if (!kind.referencePrefix) continue;
		const id = await findId(context, kind, named).catch((error) => {
			if (error instanceof AppError && error.code === "not_found") return [];
			throw error;
		});
		found.push(...[id].flat());
	}
	const [id, ...others] = found;
	if (id === undefined) {
		throw new AppError(
			"not_found",
			`there is no record ${named.slice(0, 100)}`,
		);
	}
	if (others.length > 0) {
		throw badFields([
			{
				field: "id",
				message: "is the reference id of several records; give the id",
			},
		]);
	}
	return id;
}

/**
 * Returns the id of the record that a caller named by its id or reference id. Upper and lower case
 * of a reference id make no difference, unless two records differ only in that.
 */
export async function findId(
	{ client, membership }: Context,
	kind: AnyRecordKind,
	named: string,
): Promise<string> {
	if (!kind.referencePrefix || parseId(named)) return named;
	const { rows } = await client.query<{ id: string; is_exact: boolean }>({
		name: `reference.${kind.kind}`,
		text: `select t.id, t.reference_id = $2 as is_exact from ${kind.table} t
			where t.organization_id = $1
				and t.reference_id_key in (sort_key($2), sort_key(btrim($2)))
				and lower(t.reference_id) in (lower($2), lower(btrim($2)))
			order by is_exact desc limit 2`,
		values: [membership.organizationId, named],
	});
	const [found, another] = rows;
	if (!found) {
		throw new AppError(
			"not_found",
			`there is no ${kindNoun(kind.kind)} ${named.slice(0, 100)}`,
		);
	}
	if (another && !found.is_exact) {
		throw badFields([
			{
				field: "id",
				message: `is the reference id of several ${kind.nouns} in another case; write it exactly, or give the id`,
			},
		]);
	}
	return found.id;
}
