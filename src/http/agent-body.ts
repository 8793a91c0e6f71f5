import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import type { Claims } from "../devices/unknown-keys.ts";
import { describeIssues, heartbeatRequest } from "../devices/wire.ts";
import { AppError } from "../errors.ts";
import type { BodyRoom } from "../load/body-budget.ts";
import { readBody, unreadBodyError } from "./body.ts";
import { NOT_JSON, parseJson, shapeProblem } from "./json.ts";

/**
 * A body of more bytes has its shape checked before it is parsed. Usual reports are much shorter
 * and need no check. The limits are far above what 100 results hold. At 1 MiB beyond them, parsing
 * and storing could block the event loop for 90 to 500 ms, so another thread reduces the body.
 */
const LARGE_BODY = 64 * 1024;
const REPORT_SHAPE = { depth: 10_000, values: 50_000 };

type Reduce = (text: string) => Promise<string | null>;

/** The body that a route of the agent accepts. */
export interface BodyRules {
	maxBytes: number;
	emptyBodyIsFine: boolean;
}

/**
 * Reads the JSON object of a request, or says that the client left. `reduce` makes a body with too
 * many values smaller, and returns null if it is no JSON object. Without it, the route's limit must
 * be at most LARGE_BODY. Throws an AppError.
 */
export async function readJson(
	route: BodyRules,
	request: IncomingMessage,
	{ room, reduce }: { room?: BodyRoom; reduce?: Reduce },
): Promise<{ body: unknown; bytes: number } | "aborted"> {
	const bytes = await readBody(request, route.maxBytes, room);
	if (bytes === "aborted") return bytes;
	if (typeof bytes === "string") throw unreadBodyError(bytes, route.maxBytes);
	if (bytes.length === 0 && route.emptyBodyIsFine)
		return { body: {}, bytes: 0 };
	let text = bytes.toString("utf8");
	// A text that begins as an array is not parsed, because half a million nested arrays would block
	// the event loop for 100 ms or more.
	if (text.trimStart().startsWith("[")) throw noObject();
	if (
		reduce &&
		bytes.length > LARGE_BODY &&
		shapeProblem(text, REPORT_SHAPE) !== undefined
	) {
		const reduced = await reduce(text);
		if (reduced === null) throw noObject();
		text = reduced;
	}
	let body: unknown;
	try {
		body = parseJson(text) ?? {};
	} catch {
		throw new AppError("bad_request", NOT_JSON);
	}
	if (typeof body !== "object" || Array.isArray(body)) {
		throw noObject();
	}
	return { body, bytes: bytes.length };
}

function noObject(): AppError {
	return new AppError("bad_request", "the body must be a JSON object");
}

/** Returns the parsed body. Throws a bad_request that names each wrong field. */
export function parse<Schema extends z.ZodType>(
	schema: Schema,
	body: unknown,
): z.output<Schema> {
	const parsed = schema.safeParse(body);
	if (!parsed.success) {
		throw new AppError("bad_request", describeIssues(parsed.error));
	}
	return parsed.data;
}

/** Returns the claims of a heartbeat about its device. */
export function claimsOf(body: unknown): Claims {
	const { data } = heartbeatRequest.safeParse(body);
	if (!data) return {};
	const { hardware_uuid, serial_number, hostname, platform } = data;
	return {
		hardware_uuid,
		serial_number: serial_number ?? undefined,
		hostname,
		platform,
	};
}
