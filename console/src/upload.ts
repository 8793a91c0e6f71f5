import { ApiError, answerOf, type OutputOf } from "./api.ts";

/** A file on its way to the service, and what is said about it. */
export interface Upload {
	file: File;
	/** The record that it is evidence for. */
	recordId: string;
	/** Last day on which it counts, or an empty text. */
	validUntil: string;
}

/**
 * Sends a file as a new piece of evidence. `onProgress` receives the share that has been sent, from
 * 0 to 1. Only XMLHttpRequest tells how much of a body has been sent. Throws ApiError.
 */
export function uploadEvidence(
	{ file, recordId, validUntil }: Upload,
	onProgress: (share: number) => void,
): Promise<OutputOf<"addEvidence">> {
	const about = new URLSearchParams({
		record_id: recordId,
		file_name: file.name,
		...(validUntil && { valid_until: validUntil }),
	});
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		request.open("POST", `/api/console/files?${about}`);
		request.setRequestHeader("content-type", "application/octet-stream");
		request.upload.onprogress = ({ loaded, total }) =>
			onProgress(total > 0 ? loaded / total : 0);
		request.onload = () => {
			const id = request.getResponseHeader("x-request-id");
			const response = new Response(request.responseText, {
				status: request.status,
				...(id && { headers: { "x-request-id": id } }),
			});
			resolve(answerOf(response));
		};
		request.onerror = () =>
			reject(
				new ApiError(
					0,
					"unreachable",
					"The upload was interrupted. Check your connection and try again.",
				),
			);
		request.send(file);
	});
}

/** Returns the address from which a browser saves the file of a piece of evidence. */
export function downloadUrl(evidenceId: string): string {
	return `/api/console/files/${evidenceId}/download`;
}

/** Returns the address of a file that is shown inside a page. */
export function previewUrl(evidenceId: string): string {
	return `/api/console/files/${evidenceId}/preview`;
}
