import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { parseId } from "../id.ts";
import type { Services } from "../invoke.ts";
import { countUse, type ToolServices } from "../mcp/methods.ts";
import { jsonReply, type Reply } from "../mcp/reply.ts";
import { membershipForRecord, type Principal } from "../principal.ts";
import { callerOf, type FindCaller, findCallerAgain } from "./admission.ts";
import { methodNotAllowed } from "./error-replies.ts";
import { downloadFile, UNREAD_MS, uploadFile } from "./files.ts";

/**
 * Answers a request with an API token for files: POST /api/files stores one, and GET /api/files/<id>
 * returns the file of the piece of evidence, or the records of the snapshot, with this id.
 */
export async function answerFiles(
	tools: ToolServices,
	request: IncomingMessage,
	principal: Principal,
	findCaller: FindCaller,
	id: string,
	{ searchParams: query }: URL,
	requestId: string,
): Promise<Reply> {
	if (id === "") {
		if (request.method !== "POST") return methodNotAllowed(["POST"]);
		const about = query.get("organization_id") ?? query.get("record_id") ?? "";
		const output = await counted(tools, principal, "addEvidence", about, () =>
			uploadFile(tools.services, principal, request, query, requestId),
		);
		return jsonReply(201, JSON.stringify(output));
	}
	if (request.method !== "GET") return methodNotAllowed(["GET"]);
	const { headers, content } = await counted(
		tools,
		principal,
		parseId(id)?.kind === "snapshot" ? "getSnapshot" : "getEvidence",
		id,
		() => downloadFile(tools.services, principal, findCaller, id, requestId),
	);
	return {
		status: 200,
		headers,
		body: Readable.toWeb(Readable.from(content)) as ReadableStream<Uint8Array>,
	};
}

/**
 * Counts an upload or download as a use of the tool whose permission it needs. `about` is the id of
 * the organization, or of one of its records.
 */
async function counted<Result>(
	{ usage }: ToolServices,
	principal: Principal,
	tool: string,
	about: string,
	work: () => Promise<Result>,
): Promise<Result> {
	const organizationId =
		membershipForRecord(principal, about)?.organizationId ?? null;
	let isError = true;
	try {
		const result = await work();
		isError = false;
		return result;
	} finally {
		countUse(usage, principal, { tool, organizationId, isError });
	}
}

/** Adds the routes with which the console uploads, downloads and shows files. */
export function addConsoleFileRoutes(
	app: FastifyInstance,
	services: Services,
): void {
	// The route reads the body itself, as it arrives.
	app.addContentTypeParser(
		"application/octet-stream",
		(_request, payload, done) => done(null, payload),
	);

	app.post(
		"/api/console/files",
		{
			bodyLimit: services.fileLimits?.maxFileBytes ?? 0,
			config: { admits: "session" },
		},
		async (request, reply) => {
			const query = new URLSearchParams(request.url.split("?")[1]);
			const caller = callerOf(request);
			const output = await uploadFile(
				services,
				caller,
				request.raw,
				query,
				request.id,
			);
			return reply.status(201).send(output);
		},
	);

	for (const how of ["download", "preview"] as const) {
		app.get<{ Params: { id: string } }>(
			`/api/console/files/:id/${how}`,
			{ exposeHeadRoute: false, config: { admits: "session" } },
			async (request, reply) => {
				const { headers, content } = await downloadFile(
					services,
					callerOf(request),
					findCallerAgain(request),
					request.params.id,
					request.id,
					how === "preview",
				);
				reply.raw.setTimeout(UNREAD_MS, () => reply.raw.destroy());
				return reply.headers(headers).send(Readable.from(content));
			},
		);
	}
}
