import { z } from "zod";
import { isRecipient } from "../backup/recipient.ts";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { lineSchema } from "../records/text-schemas.ts";
import { requireFreshProof } from "../sign-in/fresh-proof.ts";
import { EXPORT_PATH, makeExportTicket } from "./export-ticket.ts";

/** A key that resists quantum computers has about 2,000 characters, and another one 62. */
const MAX_RECIPIENT = 2_500;

export const exportOrganization = defineOperation({
	name: "exportOrganization",
	title: "Export an organization",
	description:
		"Get the address of a file with everything in the organization, to import it into another installation of Assay. Passwords, tokens and keys are not in it. The address works for two minutes, and only for the caller.",
	toolset: "organizations",
	access: "admin",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		leaves_out: z
			.array(z.enum(["files", "reports"]))
			.max(2)
			.default([])
			.describe(
				"What the file does not contain: the contents of the files of evidence, or the raw reports of devices",
			),
		recipient: lineSchema(MAX_RECIPIENT)
			.refine(isRecipient, {
				error:
					"is not a public key of age, such as age1…; `age-keygen -y FILE` prints the public key of an identity",
			})
			.optional()
			.describe(
				"Public key of age (age-encryption.org) for which the file is encrypted. Without it, the file is not encrypted",
			),
	}),
	output: z.object({
		download_path: z.string().describe("Path of the file's address"),
	}),
	run: async (context, { organization_id, leaves_out, recipient }) => {
		await requireFreshProof(context);
		const { client, principal, services } = context;
		const { secret } = services;
		if (secret === undefined || principal.userId === null) {
			throw new Error("only a user of the console can ask for an export");
		}
		const { rows } = await client.query<{ name: string }>(
			"select name from organizations where id = $1",
			[organization_id],
		);
		const leavesOut = [...new Set(leaves_out)];
		context.changed({
			kind: "organization",
			id: organization_id,
			name: rows[0]?.name ?? null,
			fields: {
				...(leavesOut.length > 0 && { left_out: { after: leavesOut } }),
				...(recipient && { encrypted_for: { after: recipient } }),
			},
		});
		const ticket = makeExportTicket(secret, {
			organizationId: organization_id,
			userId: principal.userId,
			leavesOut,
			recipient,
		});
		return { download_path: `${EXPORT_PATH}?ticket=${ticket}` };
	},
});
