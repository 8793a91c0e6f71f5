import type { Walk } from "./callers.ts";

/** Uses documents with their versions, approvals and signatures. Returns the document's id. */
export async function useDocuments({
	organization_id,
	signIn,
	admin,
	references,
}: Walk): Promise<string> {
	const { use } = admin;
	const { document } = await use("addDocument", {
		organization_id,
		title: "Policy",
		document_type: "POLICY",
		classification: "INTERNAL",
		review_interval_months: 12,
	});
	const draft = async (content: string) =>
		(
			await use("createDraftDocumentVersion", {
				document_id: document.id,
				content,
				asks_again: true,
			})
		).document_version.id;
	const published = await draft("One");
	await use("updateDocumentVersion", { id: published, content: "Two" });
	await use("publishDocumentVersion", { id: published });
	const addPersonOf = async ({ email }: { email: string }) =>
		(
			await use("addPeople", {
				organization_id,
				full_name: "Signer",
				kind: "EMPLOYEE",
				primary_email_address: email,
			})
		).people.id;
	await use("requestDocumentVersionSignature", {
		document_version_id: published,
		person_ids: [await addPersonOf(admin.user), references.people[0]],
	});
	const { document_version_signatures: signatures } = await use(
		"listDocumentVersionSignatures",
		{ document_version_id: published },
	);
	await use("getDocumentVersionSignature", { id: signatures[0].id });
	const { id } = signatures.find(
		(one: { signed_by: string }) => one.signed_by === references.people[0],
	);
	await use("countSigners", { document_version_id: published });
	await use("copySignLink", { id });
	await use("copySignLinks", { document_version_id: published });
	await use("remindSigners", { document_version_id: published });
	await use("cancelSignatureRequest", { id });
	const { document_version: read } = await use("getDocumentVersion", {
		id: published,
	});
	await use("signDocumentVersion", {
		id: published,
		content_hash: read.content_hash,
	});
	const next = await draft("Three");
	const approver = await signIn("member", organization_id);
	await use("updateDocument", {
		id: document.id,
		approver_ids: [await addPersonOf(approver.user)],
	});
	await use("requestDocumentVersionApproval", { id: next });
	await use("withdrawDocumentVersion", { id: next });
	await use("requestDocumentVersionApproval", { id: next });
	await approver.use("rejectDocumentVersion", { id: next, note: "Too short" });
	await use("requestDocumentVersionApproval", { id: next });
	await approver.use("approveDocumentVersion", { id: next });
	await use("listDocumentVersions", { document_id: document.id });
	await use("deleteDraftDocumentVersion", { id: await draft("Four") });
	return document.id;
}
