import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { exportList } from "../csv/export.ts";
import { importCsv, importRecords } from "../csv/import.ts";
import { MAX_CSV_BYTES } from "../csv/import-limits.ts";
import { tooManyBytes } from "../csv/read-table.ts";
import { badFields } from "../errors.ts";
import { parseId } from "../id.ts";
import { authorize, type Services } from "../invoke.ts";
import { type BodyRoom, holdRoom, IMPORT_BODIES } from "../load/body-budget.ts";
import { FairShares } from "../load/fair-shares.ts";
import { toJsonSchema } from "../mcp/json-schema.ts";
import { findOperation } from "../operations.ts";
import { callerOf, findCallerAgain } from "./admission.ts";
import { readBody, unreadBodyError } from "./body.ts";
import { limitDownload } from "./downloads.ts";
import { readQueryInput } from "./query-input.ts";
import { takeSource } from "./read-source.ts";

/**
 * Limits for exports and imports. An export uses a database connection for each page of the list,
 * and an import uses much processor time. Each user may run one of them at a time, because a user
 * with three sessions could otherwise hold up the exports of all others. The limits for all users
 * together leave room for other calls.
 */
const EXPORTS_OF_A_USER = {
	running: 1,
	waiting: 7,
	maxWaitMs: 20_000,
	name: "exports of yours",
};
const EXPORTS = {
	running: 3,
	waiting: 60,
	maxWaitMs: 20_000,
	name: "exports",
};
const IMPORTS_OF_A_USER = {
	running: 1,
	waiting: 1,
	maxWaitMs: 20_000,
	name: "imports of yours",
};
const IMPORTS = {
	running: 2,
	waiting: 8,
	maxWaitMs: 20_000,
	name: "imports",
};

/**
 * Time, in milliseconds, after which an export ends whose client reads nothing. Node notices after
 * once to twice this time, which is less than the longest wait for a turn.
 */
const UNREAD_MS = 9_000;

/** Longest time of an export, so that a slow reader does not keep its place for ever. */
const MAX_MS = 1_800_000;

/** Adds the routes that download lists as CSV files and import CSV files into registers. */
export function addConsoleCsv(app: FastifyInstance, services: Services): void {
	const takeExportTurn = makeTurns(EXPORTS_OF_A_USER, EXPORTS);
	const importsOfUsers = new FairShares(IMPORTS_OF_A_USER);
	const imports = new FairShares(IMPORTS);

	app.get<{ Params: { list: string } }>(
		"/api/console/export/:list.csv",
		{ exposeHeadRoute: false, config: { admits: "session" } },
		async (request, reply) => {
			const caller = callerOf(request);
			const operation = findOperation(request.params.list);
			const query = new URLSearchParams(request.url.split("?")[1]);
			const ids = takeIds(query);
			const source = takeSource(services, query);
			const input = operation
				? readQueryInput(toJsonSchema(operation.input, "input"), query)
				: {};
			return takeExportTurn(caller.userId ?? "", async () => {
				const { fileName, chunks } = await exportList(
					source.services,
					caller,
					operation,
					input,
					{ requestId: request.id, ids, findCaller: findCallerAgain(request) },
				);
				limitDownload(reply.raw, { unreadMs: UNREAD_MS, maxMs: MAX_MS });
				reply
					.headers(source.headers())
					.header("content-type", "text/csv; charset=utf-8")
					.header("content-disposition", `attachment; filename="${fileName}"`)
					.send(Readable.from(chunks));
				// The export counts as running until the file has been sent, or until the connection is
				// closed.
				await finished(reply.raw).catch(() => {});
				return reply;
			});
		},
	);

	app.post(
		"/api/console/importRecords",
		{ bodyLimit: MAX_CSV_BYTES, config: { admits: "session" } },
		async (request) => {
			const caller = callerOf(request);
			const userId = caller.userId ?? "";
			const query = new URLSearchParams(request.url.split("?")[1]);
			const input = Object.fromEntries(query);
			await authorize(services, caller, importRecords, input);
			return importsOfUsers.run(userId, async () => {
				const room = holdRoom(IMPORT_BODIES.of(userId));
				try {
					// A slow sender holds nothing that other users need. Its session may end meanwhile.
					const body = await receiveCsv(request, room);
					const callerNow = await findCallerAgain(request)();
					return await imports.run("all", () =>
						importCsv(services, callerNow, input, body, request.id),
					);
				} finally {
					room.release();
				}
			});
		},
	);
}

/**
 * Receives a CSV file whole. Returns a body of another type as it is, for the operation to reject.
 */
async function receiveCsv(
	{ body, raw }: FastifyRequest,
	room: BodyRoom,
): Promise<unknown> {
	if (!(body instanceof Readable)) return body;
	const bytes = await readBody(raw, MAX_CSV_BYTES, room);
	if (bytes === "too_large") throw tooManyBytes();
	if (bytes === "aborted") throw unreadBodyError("broken", MAX_CSV_BYTES);
	if (typeof bytes === "string") throw unreadBodyError(bytes, MAX_CSV_BYTES);
	return Readable.from(bytes);
}

/** Largest number of rows that an export can name. The address of the request has all their ids. */
const MAX_IDS = 200;

/** Removes `ids` from a query string, and returns the ids of the only rows to export. */
function takeIds(query: URLSearchParams): string[] | undefined {
	const given = query.get("ids");
	if (given === null) return undefined;
	query.delete("ids");
	const ids = given.split(",");
	if (ids.length > MAX_IDS || ids.some((id) => !parseId(id))) {
		throw badFields([
			{
				field: "ids",
				message: `must be 1 to ${MAX_IDS} ids, separated by commas`,
			},
		]);
	}
	return ids;
}

type Limits = ConstructorParameters<typeof FairShares>[0];

/**
 * Makes a function that runs `work` as soon as the limits of the user and of the process permit
 * it.
 */
function makeTurns(ofUser: Limits, ofProcess: Limits) {
	const users = new FairShares(ofUser);
	const all = new FairShares(ofProcess);
	return <Result>(userId: string, work: () => Promise<Result>) =>
		users.run(userId, () => all.run("all", work));
}
