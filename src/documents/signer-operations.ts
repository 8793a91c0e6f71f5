import { z } from "zod";
import { AppError } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { countReach, reachCounts } from "./reach.ts";
import { makeCopiedLink, SIGN_DAYS } from "./sign-link.ts";
import { personIds, readSignature, signatureId } from "./signature-requests.ts";
import {
	lockVersion,
	noteVersion,
	readVersion,
	versionId,
} from "./versions.ts";

export const countSigners = defineOperation({
	name: "countSigners",
	title: "Count how people can sign",
	description:
		"Count how many of these people can sign a published version, and how. Without ids, count those who are asked and have not signed.",
	toolset: "documents",
	surface: "console",
	access: "read",
	tenant: "document_version_id",
	input: z.strictObject({
		document_version_id: versionId(),
		person_ids: personIds().optional(),
	}),
	output: reachCounts,
	run: async (context, { document_version_id, person_ids }) => {
		const version = await readVersion(context, document_version_id);
		return countReach(context, version, person_ids);
	},
});

export const copySignLink = defineOperation({
	name: "copySignLink",
	title: "Copy a link to sign",
	description: `Make a link with which a person without an account signs, and which you pass on yourself. It works for ${SIGN_DAYS} days, and a new one ends it. The signature says that you copied it, because you have seen the link.`,
	toolset: "documents",
	surface: "console",
	access: "write",
	tenant: "id",
	input: z.strictObject({ id: signatureId() }),
	output: z.object({
		link: z.string().describe("Shown only now"),
		signer_name: z.string(),
		expires_at: z.string(),
	}),
	run: async (context, { id }) => {
		const { document_version_id } = await readSignature(context, id);
		const { found } = await lockVersion(context, document_version_id);
		const { reach, signer_name } = await readSignature(context, id);
		if (reach !== "LINK") {
			throw new AppError(
				reach ? "bad_request" : "conflict",
				`${signer_name} ${WHY_NO_LINK[reach ?? "SIGNED"]}`,
			);
		}
		noteVersion(context, found, {
			sign_link: { after: { person: signer_name, way: "COPIED_LINK" } },
		});
		return { ...(await makeCopiedLink(context, id)), signer_name };
	},
});

const WHY_NO_LINK = {
	SIGNED: "has signed already",
	ACCOUNT: "has an account, and finds the version on the home page",
	SECRET:
		"gets no link, because the document is secret; invite the person as a viewer",
	LEFT: "gets no link, because the contract has ended",
};
