import { z } from "zod";
import { badFields } from "../../errors.ts";
import { defineOperation } from "../../operation.ts";
import { organizationId } from "../../records/list-pages.ts";
import { readMetadata } from "./read-metadata.ts";
import { MAX_XML, UnsafeXml } from "./safe-xml.ts";

export const readSamlMetadata = defineOperation({
	toolset: "sign_in",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
	name: "readSamlMetadata",
	title: "Read the metadata of a SAML provider",
	description:
		"Read what the metadata of a SAML identity provider says, to fill in the form for a provider. Nothing is stored.",
	isReadOnly: true,
	input: z.strictObject({
		organization_id: organizationId(),
		xml: z
			.string()
			.max(MAX_XML, { abort: true })
			.describe("Metadata of the provider (SAML 2.0), in XML"),
	}),
	output: z.object({
		issuer: z.string().describe("Entity id of the provider"),
		sign_in_url: z.string(),
		certificates: z.array(z.string()).describe("In PEM"),
	}),
	run: async (_context, { xml }) => {
		try {
			return readMetadata(xml);
		} catch (error) {
			if (!(error instanceof UnsafeXml)) throw error;
			const message = `must be the metadata of a SAML identity provider: ${error.message}`;
			throw badFields([{ field: "xml", message }]);
		}
	},
});
