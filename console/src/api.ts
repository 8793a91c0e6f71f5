import type { z } from "zod";
import type { FieldIssue } from "../../src/errors.ts";
import type { operations } from "../../src/operations.ts";
import { attendanceHeaders } from "./attendance.ts";
import { inWords } from "./parts/names-in-words.ts";
import { askForProof } from "./proof.ts";

type AnyOfList = (typeof operations)[number];

export type OperationName = AnyOfList["name"];
type Named<Name extends OperationName> = Extract<AnyOfList, { name: Name }>;
/**
 * The input of an operation, taken from the types in the server's list. If a field is renamed
 * there, the type check fails here.
 */
export type InputOf<Name extends OperationName> = z.input<Named<Name>["input"]>;
export type OutputOf<Name extends OperationName> = z.output<
	Named<Name>["output"]
>;

/** An error from the server, or a failure to reach it. Its message is a sentence for the reader. */
export class ApiError extends Error {
	/** The HTTP status, or 0 if the server could not be reached. */
	readonly status: number;
	/** The server's code, such as `bad_request` or `not_found`, or `unreachable`. */
	readonly code: string;
	/** True if the operator works on the service, which turns everybody away for a while. */
	readonly isMaintenance: boolean;
	/** The fields that are wrong, so that a form can show each error beside its field. */
	readonly fields: readonly FieldIssue[];

	constructor(
		status: number,
		code: string,
		message: string,
		fields: readonly FieldIssue[] = [],
		isMaintenance = false,
	) {
		super(message);
		this.name = "ApiError";
		this.status = status;
		this.code = code;
		this.fields = fields;
		this.isMaintenance = isMaintenance;
	}

	/** True if the same request may succeed later. */
	get mayRetry(): boolean {
		return this.status === 0 || this.status >= 500 || this.isMaintenance;
	}
}

/**
 * Calls an operation as the signed-in user. If the server wants the user to confirm their identity
 * again, a dialog asks for the password and the call is repeated. Throws ApiError.
 */
export async function call<Name extends OperationName>(
	name: Name,
	input: InputOf<Name>,
	options: { signal?: AbortSignal } = {},
): Promise<OutputOf<Name>> {
	return withProof(() =>
		request<OutputOf<Name>>(`/api/console/${name}`, {
			body: input,
			...options,
		}),
	);
}

/** Sends a request. If the server wants a proof first, asks for it and sends the request again. */
export async function withProof<Result>(
	send: () => Promise<Result>,
): Promise<Result> {
	try {
		return await send();
	} catch (error) {
		if (!needsProof(error)) throw error;
		if (await askForProof()) return send();
		throw new ApiError(
			403,
			"not_confirmed",
			"Nothing was changed, because you did not confirm that it is you.",
		);
	}
}

function needsProof(error: unknown): boolean {
	return (
		error instanceof ApiError &&
		error.status === 403 &&
		error.fields.some(({ field }) => field === "proof")
	);
}

/** Sends a request to the service: POST with a body, otherwise GET. Throws ApiError. */
export async function request<Result>(
	path: string,
	{ body, signal }: { body?: unknown; signal?: AbortSignal } = {},
): Promise<Result> {
	return answerOf(
		await send(path, {
			method: body === undefined ? "GET" : "POST",
			headers: { "content-type": "application/json" },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
			...(signal ? { signal } : {}),
		}),
	);
}

/** Sends a CSV file in the body, and `input` in the query string. Throws ApiError. */
export async function sendCsv<Result>(
	path: string,
	input: Record<string, string>,
	csv: string,
	signal?: AbortSignal,
): Promise<Result> {
	return answerOf(
		await send(`${path}?${new URLSearchParams(input)}`, {
			method: "POST",
			headers: { "content-type": "text/csv" },
			body: csv,
			...(signal ? { signal } : {}),
		}),
	);
}

/** Returns the content of an answer. Throws ApiError if it is an error. */
export async function answerOf<Result>(response: Response): Promise<Result> {
	const text = await response.text();
	const answer = parse(text);
	if (response.ok) return answer as Result;
	throw toApiError(response, answer);
}

/**
 * Downloads a file that the service generates. A download that stops early throws an error and
 * never returns an incomplete file. `onProgress` receives the number of bytes that have arrived so
 * far. Throws ApiError.
 */
export async function requestFile(
	path: string,
	{
		signal,
		onProgress,
	}: { signal: AbortSignal; onProgress: (bytes: number) => void },
): Promise<{ name: string; blob: Blob }> {
	const response = await send(path, { signal });
	if (!response.ok) {
		throw toApiError(response, parse(await response.text()));
	}
	const parts: Uint8Array<ArrayBuffer>[] = [];
	let bytes = 0;
	const reader = response.body?.getReader();
	for (;;) {
		const { done, value } = (await reader?.read().catch((error: unknown) => {
			if (signal.aborted) throw error;
			throw new ApiError(
				0,
				"unreachable",
				"The download stopped before the end of the file. Try again.",
			);
		})) ?? { done: true as const, value: undefined };
		if (done) break;
		parts.push(value);
		bytes += value.byteLength;
		onProgress(bytes);
	}
	const type = response.headers.get("content-type") ?? "";
	const disposition = response.headers.get("content-disposition") ?? "";
	const name = /filename="([^"]+)"/.exec(disposition)?.[1] ?? "download";
	return { name, blob: new Blob(parts, { type }) };
}

/** Sends a request with what the service needs to know of the page. Throws ApiError. */
export async function send(
	path: string,
	init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> },
): Promise<Response> {
	const headers = { ...init.headers, ...attendanceHeaders() };
	return fetch(path, { ...init, headers }).catch((error: unknown) => {
		if (init.signal?.aborted) throw error;
		throw new ApiError(
			0,
			"unreachable",
			"The service cannot be reached. Check your connection and try again.",
		);
	});
}

function toApiError(response: Response, answer: unknown): ApiError {
	const { status } = response;
	const { error, code, message, fields } = (answer ?? {}) as {
		error?: string;
		code?: string;
		message?: string;
		fields?: FieldIssue[];
	};
	const name = error ?? code ?? "unknown";
	if (status === 503) {
		return new ApiError(
			status,
			name,
			"The service is not available right now. Try again in a few seconds.",
		);
	}
	if (status >= 500) {
		const id = response.headers.get("x-request-id");
		return new ApiError(
			status,
			name,
			`Something went wrong in the service. Try again. If it happens again, tell your administrator${id ? ` the request ID ${id}` : ""}.`,
		);
	}
	return new ApiError(
		status,
		name,
		asSentence(
			message ?? `The service answered with status ${status}. Try again.`,
		),
		fields,
		status === 403 && response.headers.has("retry-after"),
	);
}

function parse(text: string): unknown {
	try {
		return text === "" ? null : JSON.parse(text);
	} catch {
		return null;
	}
}

/**
 * Turns a server message into a whole sentence with the words and quotation marks of the console.
 * The server's messages are parts of sentences. They name filters as tools do, such as
 * `filter.owner_id: must be an id`.
 */
export function asSentence(text: string): string {
	const own = text
		// A message about "id" is about the record itself. A reader of the console never sees its id.
		.replace(/^id: /, "")
		.replaceAll(
			/\bfilter\.(\w{1,60}?)(?:_ids?)?(?:\[\d{1,4}\]|\.\w{1,60}){0,2}: /g,
			(_, name: string) => `the filter “${inWords(name)}” `,
		)
		.replaceAll(/"([^"]*)"/g, "“$1”");
	const first = own.charAt(0).toUpperCase() + own.slice(1);
	return /[.!?…]$/.test(first) ? first : `${first}.`;
}
