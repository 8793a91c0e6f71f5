import { recordOperations } from "../records/operations.ts";
import { document } from "../registers/document.ts";
import {
	approveDocumentVersion,
	publishDocumentVersion,
	rejectDocumentVersion,
	requestDocumentVersionApproval,
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
	publishDocumentVersion,
	listDocumentVersionSignatures,
	getDocumentVersionSignature,
	requestDocumentVersionSignature,
	countSigners,
	copySignLink,
	copySignLinks,
	cancelSignatureRequest,
	signDocumentVersion,
] as const;
