import { z } from "zod";
import { badFields } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { lineSchema, nameSchema } from "../records/text-schemas.ts";
import { requireFreshProof } from "../sign-in/fresh-proof.ts";
import { MAX_REASON, planDeletion } from "./closures.ts";
import { GRACE_DAYS } from "./days.ts";
import { mailAdministrators } from "./mail-administrators.ts";

export const deleteOrganization = defineOperation({
	name: "deleteOrganization",
	title: "Delete an organization",
	description: `Close the organization at once for everybody, and delete it with everything in it after ${GRACE_DAYS} days. Until then, the operator of the service can restore it.`,
	toolset: "organizations",
	access: "admin",
	surface: "console",
	isDestructive: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		name: nameSchema().describe(
			"Name of the organization, to be sure that it is the right one",
		),
		reason: lineSchema(MAX_REASON)
			.refine((text) => text.trim() !== "", "must not be empty")
			.describe("Sentence that everybody reads who is turned away"),
	}),
	output: z.object({ delete_after: z.string() }),
	run: async (context, { organization_id, name, reason }) => {
		await requireFreshProof(context);
		const closure = await planDeletion(
			context.client,
			context.principal,
			organization_id,
			reason.trim(),
		);
		// The transaction leaves nothing behind if the name is wrong.
		if (closure.name !== name) {
			throw badFields([
				{
					field: "name",
					message: "is not the name of this organization",
				},
			]);
		}
		const { mail, wakeClosed } = context.services;
		if (mail) {
			const caller = context.principal.userId;
			await mailAdministrators(
				context.client,
				{ kind: "ORGANIZATION_DELETION", organizationId: organization_id },
				caller,
			);
		}
		context.afterCommit(() => {
			wakeClosed?.();
			mail?.wake();
		});
		return { delete_after: closure.delete_after ?? "" };
	},
});
