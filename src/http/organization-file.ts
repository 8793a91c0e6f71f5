import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { FastifyInstance } from "fastify";
import type { ClientConfig } from "pg";
import { sealAll } from "../audit/sealer.ts";
import { openAuditPackage } from "../audit-package/open-package.ts";
import type { PackageScope } from "../audit-package/scope.ts";
import { encryptionFor } from "../backup/encryption.ts";
import { openOrganizationExport } from "../backup/export-organization.ts";
import { MAX_ORGANIZATION_FILES } from "../db/connections.ts";
import { AppError } from "../errors.ts";
import { contentDisposition, PATH_PARTS } from "../files/file-names.ts";
import type { Services } from "../invoke.ts";
import { FairShares } from "../load/fair-shares.ts";
import {
	EXPORT_PATH,
	type ExportTicket,
	readExportTicket,
	type TicketOfOrganization,
} from "../organizations/export-ticket.ts";
import { membershipIn, type Principal } from "../principal.ts";
import { HOUR_MS } from "../units.ts";
import { callerOf, findCallerAgain } from "./admission.ts";
import { endWhenForbidden, endWhenSlow, limitDownload } from "./downloads.ts";
import { UNREAD_MS } from "./files.ts";

const MIB = 1 << 20;

/** An export takes as long as its reader needs, so a user has only one at a time. */
const EXPORTS_OF_A_USER = {
	running: 1,
	waiting: 1,
	maxWaitMs: 20_000,
	name: "exports of organizations of yours",
};

/**
 * Each export holds a database connection, and keeps the database from removing old rows until it
 * ends.
 */
const EXPORTS = {
	running: MAX_ORGANIZATION_FILES,
	waiting: 8,
	maxWaitMs: 20_000,
	name: "exports of organizations",
};

/** A reader who is slower than 64 KiB a second loses the place. */
const SLOWEST = { windowMs: 64_000, minBytes: 4 * MIB };
/** While others wait, so does a reader who is slower than 1 MiB a second. They wait for 20 s. */
const SLOWEST_WHILE_OTHERS_WAIT = { windowMs: 5_000, minBytes: 5 * MIB };

/** Longest time of an export, so that a slow reader does not hold the old rows for ever. */
const MAX_MS = HOUR_MS;

const FRAMED_BY_CONSOLE = "default-src 'none'; frame-ancestors 'self'";

export interface ExportConnections {
	/** Connects as the owner of the tables. */
	ownerConnection: ClientConfig;
	/** Connects as the pools of the service do. */
	poolConnection: ClientConfig;
}

/** Adds the route that downloads what the ticket of an export is for. */
export function addOrganizationFile(
	app: FastifyInstance,
	services: Services,
	{ ownerConnection, poolConnection }: ExportConnections,
): void {
	const open = (caller: Principal, ticket: ExportTicket): Promise<Opened> =>
		"auditPackage" in ticket
			? openPackage(services, poolConnection, caller, ticket.auditPackage)
			: openOrganization(services, ownerConnection, ticket);
	const exportsOfUsers = new FairShares(EXPORTS_OF_A_USER);
	const exports = new FairShares(EXPORTS);
	let waiting = 0;

	app.get(
		EXPORT_PATH,
		{ exposeHeadRoute: false, config: { admits: "session" } },
		async (request, reply) => {
			// The console reads a refusal from a frame of its page.
			reply.header("content-security-policy", FRAMED_BY_CONSOLE);
			const caller = callerOf(request);
			const query = new URLSearchParams(request.url.split("?")[1]);
			const ticket =
				services.secret === undefined
					? undefined
					: readExportTicket(services.secret, query.get("ticket") ?? "");
			requireAdmin(caller, ticket);
			const send = async () => {
				const { headers, content, close } = await open(caller, ticket);
				const response = reply.raw;
				limitDownload(response, { unreadMs: UNREAD_MS, maxMs: MAX_MS });
				endWhenSlow(response, SLOWEST);
				endWhenSlow(response, SLOWEST_WHILE_OTHERS_WAIT, () => waiting > 0);
				endWhenForbidden(response, async () =>
					requireAdmin(await findCallerAgain(request)(), ticket),
				);
				reply
					.headers({ ...headers, "cache-control": "private, no-store" })
					.send(Readable.from(content));
				// The export counts as running until the file has been sent, or until the connection is
				// closed.
				await finished(response).catch(() => {});
				await close();
				return reply;
			};
			return exportsOfUsers.run(ticket.userId, async () => {
				waiting++;
				let isWaiting = true;
				const begin = () => {
					if (isWaiting) waiting--;
					isWaiting = false;
				};
				try {
					return await exports.run("all", () => {
						begin();
						return send();
					});
				} finally {
					begin();
				}
			});
		},
	);
}

/** A file that has begun. It holds a connection until `content` ends or `close` is called. */
interface Opened {
	headers: Record<string, string>;
	content: AsyncIterable<Buffer>;
	close: () => Promise<void>;
}

async function openOrganization(
	services: Services,
	ownerConnection: ClientConfig,
	{ organizationId, leavesOut, recipient }: TicketOfOrganization,
): Promise<Opened> {
	// The newest entry of the audit log says that this export was made.
	await sealAll(services.pool);
	const { manifest, day, ...opened } = await openOrganizationExport(
		ownerConnection,
		organizationId,
		{ leavesOut, encrypt: encryptionFor(recipient ? [recipient] : []) },
	);
	const name = manifest.organization?.name.replace(PATH_PARTS, "_");
	return {
		...opened,
		headers: {
			"content-type": recipient
				? "application/octet-stream"
				: "application/zstd",
			"content-disposition": contentDisposition(
				"attachment",
				`${name}-${day}.assay-organization`,
			),
		},
	};
}

async function openPackage(
	services: Services,
	poolConnection: ClientConfig,
	{ name }: Principal,
	scope: PackageScope,
): Promise<Opened> {
	const { fileName, ...opened } = await openAuditPackage(
		services,
		poolConnection,
		scope,
		name,
	);
	return {
		...opened,
		headers: {
			"content-type": "application/zip",
			"content-disposition": contentDisposition("attachment", fileName),
		},
	};
}

/** Throws forbidden unless the caller asked for the export and is an administrator. */
function requireAdmin(
	caller: Principal,
	ticket: ExportTicket | undefined,
): asserts ticket is ExportTicket {
	const membership = ticket && membershipIn(caller, ticket.organizationId);
	if (ticket?.userId === caller.userId && membership?.role === "admin") return;
	throw new AppError(
		"forbidden",
		"this download is not yours, or its time is over; begin the export again",
	);
}
