import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { exportList } from "../csv/export.ts";
import { importRecords, MAX_CSV_BYTES } from "../csv/import.ts";
import { invoke, type Services } from "../invoke.ts";
import { toJsonSchema } from "../mcp/json-schema.ts";
import { findOperation } from "../operations.ts";
import type { Principal } from "../principal.ts";
import { readQueryInput } from "./query-input.ts";

/** The person whose session sent the request; throws an AppError when nobody is signed in. */
export type WhoAsks = (
	request: FastifyRequest,
	reply: FastifyReply,
) => Promise<Principal>;

/** JSON writes a line break as two characters and a quote as two: the text may grow so much. */
const MAX_IMPORT_BODY = 2 * MAX_CSV_BYTES;

/** Lists as files to download, and files to fill registers from. */
export function addConsoleCsv(
	app: FastifyInstance,
	services: Services,
	whoAsks: WhoAsks,
): void {
	app.get<{ Params: { list: string } }>(
		"/api/console/export/:list.csv",
		{ exposeHeadRoute: false },
		async (request, reply) => {
			const principal = await whoAsks(request, reply);
			const operation = findOperation(request.params.list);
			const query = new URLSearchParams(request.url.split("?")[1]);
			const input = operation
				? readQueryInput(toJsonSchema(operation.input, "input"), query)
				: {};
			const { fileName, chunks } = await exportList(
				services,
				principal,
				operation,
				input,
				request.id,
			);
			return reply
				.header("content-type", "text/csv; charset=utf-8")
				.header("content-disposition", `attachment; filename="${fileName}"`)
				.send(Readable.from(chunks));
		},
	);

	app.post(
		"/api/console/importRecords",
		{ bodyLimit: MAX_IMPORT_BODY },
		async (request, reply) => {
			const principal = await whoAsks(request, reply);
			return invoke(
				services,
				principal,
				importRecords,
				request.body,
				request.id,
			);
		},
	);
}
