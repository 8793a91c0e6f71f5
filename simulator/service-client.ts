import type { HeartbeatResponse } from "../src/devices/terms.ts";
import type { HeartbeatRequest } from "../src/devices/wire.ts";

const TIMEOUT_MS = 30_000;
/**
 * Stands for the status of a request that got no answer, because nothing listens or the request
 * timed out.
 */
export const NO_ANSWER = 0;

export interface Answer<Body> {
	status: number;
	/** The body of an answer with status 200. */
	body?: Body;
	/** The error message for people. */
	message?: string;
	retryAfterSeconds?: number;
}

/** The service as an agent and an administrator's program see it. No method throws. */
export interface ServiceClient {
	addDevice(name: string): Promise<Answer<{ enrollment_token: string }>>;
	enroll(token: string): Promise<Answer<{ api_key: string }>>;
	heartbeat(
		key: string,
		facts: HeartbeatRequest,
	): Promise<Answer<HeartbeatResponse>>;
	postures(key: string, results: readonly object[]): Promise<Answer<never>>;
}

export function makeServiceClient(
	url: string,
	organizationId: string,
	apiToken: string,
): ServiceClient {
	const agent = `${url}/api/agent/v1`;
	return {
		addDevice: (name) =>
			post(`${url}/api/mcp/tools/addDevice`, apiToken, {
				organization_id: organizationId,
				name,
			}),
		enroll: (token) => post(`${agent}/enroll`, undefined, { token }),
		heartbeat: (key, facts) => post(`${agent}/heartbeat`, key, facts),
		postures: (key, results) => post(`${agent}/postures`, key, { results }),
	};
}

async function post<Body>(
	url: string,
	key: string | undefined,
	body: object,
): Promise<Answer<Body>> {
	try {
		const response = await fetch(url, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				"user-agent": "assay-simulator",
				...(key !== undefined && { authorization: `Bearer ${key}` }),
			},
			body: JSON.stringify(body),
			redirect: "error",
			signal: AbortSignal.timeout(TIMEOUT_MS),
		});
		return await read(response);
	} catch (error) {
		return { status: NO_ANSWER, message: (error as Error).message };
	}
}

async function read<Body>(response: Response): Promise<Answer<Body>> {
	const { status } = response;
	const text = await response.text();
	if (status === 200) return { status, body: JSON.parse(text) as Body };
	if (status === 204) return { status };
	const seconds = Number(response.headers.get("retry-after"));
	return {
		status,
		message: messageOf(text) ?? `the service answered with status ${status}`,
		...(seconds > 0 && { retryAfterSeconds: seconds }),
	};
}

function messageOf(text: string): string | undefined {
	try {
		const { message } = JSON.parse(text) as { message?: unknown };
		return typeof message === "string" ? message : undefined;
	} catch {
		return undefined;
	}
}
