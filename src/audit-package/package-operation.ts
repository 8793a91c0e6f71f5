import { z } from "zod";
import { defineOperation } from "../operation.ts";
import {
	EXPORT_PATH,
	makeExportTicket,
} from "../organizations/export-ticket.ts";
import { organizationId } from "../records/list-pages.ts";
import { requireFreshProof } from "../sign-in/fresh-proof.ts";
import { packageChange } from "./package-change.ts";
import { resolveScope, scopeInput } from "./scope.ts";

export const exportAuditPackage = defineOperation({
	name: "exportAuditPackage",
	title: "Export an audit package",
	description:
		"Get the address of a ZIP file for an auditor, for one audit or for a period: registers, statement of applicability, documents, evidence, devices and audit log, with digests. The address works for two minutes, and only for the caller.",
	toolset: "organizations",
	access: "admin",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId(), ...scopeInput }),
	output: z.object({
		download_path: z.string().describe("Path of the file's address"),
	}),
	run: async (context, { organization_id, ...asked }) => {
		await requireFreshProof(context);
		const { client, principal, services } = context;
		const { secret } = services;
		if (secret === undefined || principal.userId === null) {
			throw new Error("only a user of the console can ask for a package");
		}
		const { scope, subject } = await resolveScope(
			client,
			organization_id,
			asked,
		);
		context.changed(packageChange(scope, subject));
		const ticket = makeExportTicket(secret, {
			organizationId: organization_id,
			userId: principal.userId,
			auditPackage: scope,
		});
		return { download_path: `${EXPORT_PATH}?ticket=${ticket}` };
	},
});
