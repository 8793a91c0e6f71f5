import { recordOperations } from "../records/operations.ts";
import { document } from "../registers/document.ts";
import {
	approveDocumentVersion,
	publishDocumentVersion,
	rejectDocumentVersion,
	requestDocumentVersionApproval,
	withdrawDocumentVersion,
} from "./approval-operations.ts";
import {
	cancelSignatureRequest,
	getDocumentVersionSignature,
	listDocumentVersionSignatures,
	requestDocumentVersionSignature,
	signDocumentVersion,
} from "./signature-operations.ts";
import {
	copySignLink,
	copySignLinks,
	countSigners,
	remindSigners,
} from "./signer-operations.ts";
import {
	createDraftDocumentVersion,
	deleteDraftDocumentVersion,
	getDocumentVersion,
	listDocumentVersions,
	updateDocumentVersion,
} from "./version-operations.ts";

/** All operations on documents, their versions, approvals and signatures. */
export const documentOperations = [
	...recordOperations(document),
	listDocumentVersions,
	getDocumentVersion,
	createDraftDocumentVersion,
	updateDocumentVersion,
	deleteDraftDocumentVersion,
	requestDocumentVersionApproval,
	approveDocumentVersion,
	rejectDocumentVersion,
	withdrawDocumentVersion,
	publishDocumentVersion,
	listDocumentVersionSignatures,
	getDocumentVersionSignature,
	requestDocumentVersionSignature,
	countSigners,
	copySignLink,
	copySignLinks,
	remindSigners,
	cancelSignatureRequest,
	signDocumentVersion,
] as const;
