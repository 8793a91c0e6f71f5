import { quickRequest } from "./quick-request.ts";

export const PASSWORD = "correct horse battery";

export interface Answer {
	status: number;
	// biome-ignore lint/suspicious/noExplicitAny: the test checks the form of the body.
	body: any;
	/** The cookies that the answer set, in the format of a request's Cookie header. */
	cookie: string;
	headers: Headers;
}

/**
 * Calls an operation as the console does: an import sends its `csv` as a file, and other operations
 * send JSON.
 */
export function callOperation(
	base: string,
	operation: string,
	input: { csv?: string },
	cookie: string,
): Promise<Answer> {
	if (operation !== "importRecords") {
		return sendTo(base, `/api/console/${operation}`, input, { cookie });
	}
	const { csv = "", ...rest } = input;
	const query = new URLSearchParams(
		Object.entries(rest).map(([name, value]) => [name, String(value)]),
	);
	return send(`${base}/api/console/importRecords?${query}`, {
		method: "POST",
		headers: { "content-type": "text/csv", origin: base, cookie },
		body: csv,
	});
}

/** Sends a request as the console's page at `base` does: POST if there is a body, otherwise GET. */
export async function sendTo(
	base: string,
	path: string,
	body?: object,
	headers: Record<string, string> = {},
): Promise<Answer> {
	return send(`${base}${path}`, {
		method: body ? "POST" : "GET",
		headers: { "content-type": "application/json", origin: base, ...headers },
		...(body ? { body: JSON.stringify(body) } : {}),
	});
}

async function send(
	...request: Parameters<typeof quickRequest>
): Promise<Answer> {
	const response = await quickRequest(...request);
	const text = await response.text();
	return {
		status: response.status,
		body: text && JSON.parse(text),
		cookie: response.headers
			.getSetCookie()
			.map((cookie) => cookie.split(";", 1)[0])
			.join("; "),
		headers: response.headers,
	};
}
