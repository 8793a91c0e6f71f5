export const PASSWORD = "correct horse battery";

export interface Answer {
	status: number;
	// biome-ignore lint/suspicious/noExplicitAny: what comes back is what is tested.
	body: any;
	/** Cookies that the answer set, in the form in which a request sends them. */
	cookie: string;
	headers: Headers;
}

/** Sends a request as the console's page at `base` does: POST if there is a body, otherwise GET. */
export async function sendTo(
	base: string,
	path: string,
	body?: object,
	headers: Record<string, string> = {},
): Promise<Answer> {
	const response = await fetch(`${base}${path}`, {
		method: body ? "POST" : "GET",
		headers: { "content-type": "application/json", origin: base, ...headers },
		...(body ? { body: JSON.stringify(body) } : {}),
	});
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
