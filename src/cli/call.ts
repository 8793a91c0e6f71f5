import { text as readText } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { readConfig } from "../config/config.ts";
import { AppError, type ErrorCode, HTTP_STATUS } from "../errors.ts";

/**
 * Longest time that the command waits for a response. The service's own time limits are shorter, so
 * it responds before this, even if only with an error.
 */
const TIMEOUT_MS = 60_000;

interface CallOptions {
	url?: URL;
	token?: string;
	json?: boolean;
}

export function addCall(program: Command): void {
	program
		.command("call")
		.description("Call a tool of a running service and print its answer.")
		.argument("<tool>", "name of the tool, such as listRisks", parseToolName)
		.argument(
			"[input]",
			"input of the tool as JSON; - reads it from standard input",
		)
		.option("--url <url>", "address of the service (ASSAY_BASE_URL)", parseUrl)
		.option(
			"--token <token>",
			"API token; ASSAY_TOKEN is better, because other users of the machine cannot see it",
		)
		.option("--json", "print the answer on one line")
		.addHelpText(
			"after",
			`
Example:
  assay call listRisks '{"organization_id": "…", "filter": {"query": "laptop"}}'`,
		)
		.action(async (tool: string, input = "{}", options: CallOptions) => {
			const text = input === "-" ? await readText(process.stdin) : input;
			const config = readConfig(process.env);
			const token = options.token ?? config.token;
			requireApiToken(
				token,
				"set ASSAY_TOKEN to an API token, or give --token; `assay api-token create` makes one",
			);
			const base = options.url?.href ?? config.baseUrl;
			const answer = await post(
				new URL(`/api/mcp/tools/${tool}`, base),
				token,
				text,
			);
			const indent = options.json ? undefined : 2;
			process.stdout.write(`${JSON.stringify(answer, undefined, indent)}\n`);
		});
}

function parseToolName(text: string): string {
	if (!/^[A-Za-z]+$/.test(text)) {
		throw new InvalidArgumentError("Give a tool name such as listRisks.");
	}
	return text;
}

/**
 * Throws unauthorized when there is no API token or when the text cannot be one. `missing` is the
 * error message if there is none.
 */
export function requireApiToken(
	token: string | undefined,
	missing: string,
): asserts token is string {
	if (!token) throw new AppError("unauthorized", missing);
	if (/[^\x21-\x7e]/.test(token)) {
		throw new AppError(
			"unauthorized",
			"the API token contains a space, a line break or another character that no token has; copy the whole token again, without quotes",
		);
	}
}

export function parseUrl(text: string): URL {
	const url = URL.parse(text);
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw new InvalidArgumentError(
			"Give an address that begins with http:// or https://.",
		);
	}
	return url;
}

/** Calls the tool and returns its output. Throws an AppError with the service's message. */
function post(url: URL, token: string, body: string): Promise<unknown> {
	return readAnswer(url.origin, () =>
		fetch(url, {
			method: "POST",
			headers: {
				authorization: `Bearer ${token}`,
				"content-type": "application/json",
				"user-agent": "assay call",
			},
			body,
			redirect: "error",
			signal: AbortSignal.timeout(TIMEOUT_MS),
		}),
	);
}

/**
 * Returns what a running service answers. Throws an AppError with the service's message, or one
 * that says that no service answers at `origin`.
 */
export async function readAnswer(
	origin: string,
	send: () => Promise<Response>,
): Promise<unknown> {
	let response: Response;
	let answer: unknown;
	try {
		response = await send();
		answer = JSON.parse(await response.text());
	} catch (cause) {
		throw new AppError(
			"service_unavailable",
			`no service answers at ${origin}; start Assay, or give its address with --url`,
			{ cause },
		);
	}
	if (response.ok) return answer;
	const { error, message } = answer as { error?: string; message?: string };
	const code: ErrorCode =
		error !== undefined && error in HTTP_STATUS
			? (error as ErrorCode)
			: "internal_server_error";
	throw new AppError(
		code,
		message ?? `the service answered with status ${response.status}`,
	);
}
