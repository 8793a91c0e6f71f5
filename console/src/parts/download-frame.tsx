import { ApiError } from "../api.ts";

/**
 * Downloads a file from a path with a ticket. The browser writes it to the disk as it arrives. A file
 * never loads into the frame, so what loads is a refusal.
 */
export function DownloadFrame({
	path,
	title,
	onRefused,
}: {
	path: string;
	title: string;
	onRefused: (refusal: ApiError) => void;
}) {
	return (
		<iframe
			key={path}
			hidden
			title={title}
			src={path}
			onLoad={(event) => onRefused(readRefusal(event.currentTarget))}
		/>
	);
}

/** Returns the service's words from a frame with a refused download. */
function readRefusal(frame: HTMLIFrameElement): ApiError {
	const text = frame.contentDocument?.body.textContent ?? "";
	try {
		const { error, message } = JSON.parse(text);
		return new ApiError(400, String(error), String(message));
	} catch {
		return new ApiError(
			400,
			"unreadable",
			"The service did not send the file. Reload the page and try again.",
		);
	}
}
