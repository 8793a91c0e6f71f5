import type { OutputOf } from "../../../api.ts";
import type { Tone } from "../../../parts/status-badge.tsx";

export type VersionRow =
	OutputOf<"listDocumentVersions">["document_versions"][number];
export type Version = OutputOf<"getDocumentVersion">["document_version"];

/** Names and colors of the states of a document's version. */
export const STATUSES: Record<
	VersionRow["status"],
	{ label: string; tone: Tone }
> = {
	DRAFT: { label: "Draft", tone: "neutral" },
	PENDING_APPROVAL: { label: "Pending approval", tone: "warning" },
	PUBLISHED: { label: "Published", tone: "good" },
};
