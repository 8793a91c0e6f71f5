import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { retriedTransaction } from "../db/pool.ts";
import { AppError, badFields, overloaded } from "../errors.ts";
import { readContent, requireRoom } from "../files/contents.ts";
import { addWithFile, uploadInput } from "../files/evidence-operations.ts";
import { DEFAULT_LIMITS, type FileLimits } from "../files/file-limits.ts";
import { contentDisposition, PATH_PARTS } from "../files/file-names.ts";
import { canBeShown } from "../files/file-types.ts";
import { type ReceivedFile, receiveFile } from "../files/received-file.ts";
import { parseId } from "../id.ts";
import { authorize, invoke, notFound, type Services } from "../invoke.ts";
import { BodyBudget, type BodyRoom, holdRoom } from "../load/body-budget.ts";
import { FairShares } from "../load/fair-shares.ts";
import { toJsonSchema } from "../mcp/json-schema.ts";
import type { AnyOperation } from "../operation.ts";
import { findOperation } from "../operations.ts";
import { membershipForRecord, type Principal } from "../principal.ts";
import type { evidenceFile } from "../registers/evidence.ts";
import { snapshotFile } from "../snapshots/snapshot-file.ts";
import { parseInput } from "../validation.ts";
import type { FindCaller } from "./admission.ts";
import { bodyParts } from "./body.ts";
import { whileAllowed } from "./downloads.ts";
import { readQueryInput } from "./query-input.ts";

/** An upload takes as long as its sender needs, so few of one user may run at a time. */
const uploadsOfUsers = new FairShares({
	running: 3,
	waiting: 20,
	maxWaitMs: 30_000,
	name: "uploads of yours",
});
/** Uploads that have arrived whole are stored with few connections of the database. */
const uploads = new FairShares({
	running: 12,
	waiting: 100,
	maxWaitMs: 30_000,
	name: "uploads",
});
/** Number of files of the largest size that may lie on the disk, whole or in parts. */
const FILES_ON_DISK = 12;
const diskRooms = new WeakMap<FileLimits, BodyBudget>();

/** Returns the room on the disk for uploads under these limits. */
function diskRoom(limits: FileLimits): BodyBudget {
	const room =
		diskRooms.get(limits) ??
		new BodyBudget(FILES_ON_DISK * limits.maxFileBytes);
	diskRooms.set(limits, room);
	return room;
}

/** Milliseconds after which a download ends whose receiver reads nothing. */
export const UNREAD_MS = 30_000;

/**
 * Stores the body of a request as the file of a new piece of evidence, and returns the evidence. The
 * caller's role, the address and the quota are checked before the body is read. `record_id` in the
 * address, once or several times, names the records that the evidence is about.
 */
export async function uploadFile(
	services: Services,
	principal: Principal,
	request: IncomingMessage,
	query: URLSearchParams,
	requestId: string,
): Promise<object> {
	try {
		return await storeUpload(services, principal, request, query, requestId);
	} catch (error) {
		const { maxFileBytes } = services.fileLimits ?? DEFAULT_LIMITS;
		await discardBody(request, maxFileBytes * DISCARDED_FILES);
		throw error;
	}
}

async function storeUpload(
	services: Services,
	principal: Principal,
	request: IncomingMessage,
	query: URLSearchParams,
	requestId: string,
): Promise<object> {
	const operation = addWithFile();
	const given = readUploadInput(principal, query);
	const membership = await authorize(services, principal, operation, given);
	const limits = services.fileLimits ?? DEFAULT_LIMITS;
	const input = parseInput(uploadInput, {
		...given,
		...(membership && { organization_id: membership.organizationId }),
	});
	requireBareBody(request);
	return uploadsOfUsers.run(principal.userId ?? "", async () => {
		const announcedBytes = Number(request.headers["content-length"] ?? 0);
		await retriedTransaction(
			services.pool,
			{ organizationId: input.organization_id, isReadOnly: true },
			(client) =>
				requireRoom(client, input.organization_id, announcedBytes, limits),
		);
		// An upload that has not arrived takes only the room of its bytes, so slow senders do not hold
		// up the uploads of others.
		const room = holdRoom(diskRoom(limits));
		const store = (file: ReceivedFile) =>
			invoke(
				services,
				principal,
				addWithFile(file),
				{
					...given,
					organization_id: input.organization_id,
					sha256: file.sha256.toString("hex"),
				},
				requestId,
			);
		try {
			const parts = partsInRoom(bodyParts(request), room);
			const body = { parts, announcedBytes };
			return await receiveFile(input.file_name, body, limits, (file) =>
				uploads.run("all", () => store(file)),
			);
		} finally {
			room.release();
		}
	});
}

/** Takes the room of each part. Throws service_unavailable if there is none left. */
async function* partsInRoom(
	parts: AsyncIterable<Buffer>,
	room: BodyRoom,
): AsyncGenerator<Buffer> {
	for await (const part of parts) {
		if (!room.take(part.length)) throw overloaded();
		yield part;
	}
}

/** Number of files of the largest size that are read and discarded after an error. */
const DISCARDED_FILES = 4;

/**
 * Reads the rest of a body, up to a limit. A browser or curl reads no answer before it has sent its
 * file, and would only report a broken connection.
 */
async function discardBody(
	request: IncomingMessage,
	maxBytes: number,
): Promise<void> {
	if (Number(request.headers["content-length"]) > maxBytes) return;
	let bytes = 0;
	try {
		for await (const part of bodyParts(request)) {
			bytes += part.length;
			if (bytes > maxBytes) return;
		}
	} catch {
		// The sender has gone.
	}
}

/** Reads what the address says about a file. */
function readUploadInput(
	principal: Principal,
	query: URLSearchParams,
): Record<string, unknown> {
	const fields = [...query].map(([name, value]): [string, string] => [
		name === "record_id" ? "linked_record_ids" : name,
		value,
	]);
	const input = readQueryInput(toJsonSchema(uploadInput, "input"), fields);
	const [first] = (input.linked_record_ids ?? []) as unknown[];
	if (input.organization_id !== undefined || typeof first !== "string") {
		return input;
	}
	// The id of a record contains its organization.
	const membership = parseId(first) && membershipForRecord(principal, first);
	if (parseId(first) && !membership) throw notFound(first);
	return membership
		? { ...input, organization_id: membership.organizationId }
		: input;
}

/** Throws bad_request for a form, whose parts would become a part of the file. */
function requireBareBody({ headers }: IncomingMessage): void {
	if (!headers["content-type"]?.startsWith("multipart/")) return;
	throw new AppError(
		"bad_request",
		"the body must be the file itself and no form; with curl, use --data-binary @FILE or --upload-file FILE",
	);
}

/** A file to send to a caller who may read it. */
export interface Download {
	headers: Record<string, string>;
	content: AsyncIterable<Buffer>;
}

type StoredFile = z.output<typeof evidenceFile>;

/**
 * Returns the file of a piece of evidence or of a snapshot. It is a download: a browser saves it and runs nothing in
 * it. With `isPreview`, an image or a PDF may be shown inside the console's own pages, without any
 * right that the console has. The caller is found again before each further part of the content.
 */
export async function downloadFile(
	services: Services,
	principal: Principal,
	findCaller: FindCaller,
	id: string,
	requestId: string,
	isPreview = false,
): Promise<Download> {
	const isSnapshot = parseId(id)?.kind === "snapshot" && !isPreview;
	const { headers, content } = isSnapshot
		? await downloadSnapshot(services, principal, id, requestId)
		: await downloadEvidence(services, principal, id, requestId, isPreview);
	const operation = toolOf(isSnapshot ? "getSnapshot" : "getEvidence");
	const check = async () => {
		const caller = await findCaller();
		if (!(await authorize(services, caller, operation, { id }))) {
			throw notFound(id);
		}
	};
	return { headers, content: whileAllowed(content, check) };
}

async function downloadEvidence(
	services: Services,
	principal: Principal,
	id: string,
	requestId: string,
	isPreview: boolean,
): Promise<Download> {
	const output = await readForDownload(
		services,
		principal,
		"getEvidence",
		id,
		requestId,
	);
	const { evidence } = output as {
		evidence: { organization_id: string; file: StoredFile | null };
	};
	const { file, organization_id: organizationId } = evidence;
	if (!file) {
		throw new AppError("not_found", `the piece of evidence ${id} has no file`);
	}
	if (!file.has_content) {
		throw new AppError(
			"not_found",
			"the content of the file is missing, because the database was restored from a backup without the contents of files; upload the file again",
		);
	}
	const { content_type: type, size_bytes: sizeBytes, sha256 } = file;
	if (isPreview && !canBeShown(type)) {
		throw badFields([
			{ field: "id", message: "names a file that can only be downloaded" },
		]);
	}
	return {
		headers: {
			"content-type": type.startsWith("text/")
				? `${type}; charset=utf-8`
				: type,
			"content-length": String(sizeBytes),
			"content-disposition": contentDisposition(
				isPreview ? "inline" : "attachment",
				file.file_name,
			),
			"content-security-policy": isPreview ? previewPolicy(type) : SANDBOX,
			// The answer depends on the caller, and the content never changes.
			"cache-control": "private, no-store",
		},
		content: readContent(services.pool, organizationId, sha256, sizeBytes),
	};
}

/** Returns the records of a snapshot as a file of JSON lines. Its SHA-256 is the snapshot's hash. */
async function downloadSnapshot(
	services: Services,
	principal: Principal,
	id: string,
	requestId: string,
): Promise<Download> {
	const output = await readForDownload(
		services,
		principal,
		"getSnapshot",
		id,
		requestId,
	);
	const { name, organization_id: organizationId } = (
		output as { snapshot: { name: string; organization_id: string } }
	).snapshot;
	return {
		headers: {
			"content-type": "application/jsonl; charset=utf-8",
			"content-disposition": contentDisposition(
				"attachment",
				`${name.replace(PATH_PARTS, "_")}.jsonl`,
			),
			"content-security-policy": SANDBOX,
			"cache-control": "private, no-store",
		},
		content: snapshotFile(services.pool, organizationId, id),
	};
}

/** Calls the operation whose permission a download needs. */
function readForDownload(
	services: Services,
	principal: Principal,
	name: "getEvidence" | "getSnapshot",
	id: string,
	requestId: string,
): Promise<object> {
	return invoke(services, principal, toolOf(name), { id }, requestId);
}

function toolOf(name: "getEvidence" | "getSnapshot"): AnyOperation {
	const operation = findOperation(name);
	if (!operation) throw new Error(`there is no operation ${name}`);
	return operation;
}

const SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'";

/**
 * Returns the policy of a preview. Chromium does not show a PDF in a sandbox. Its viewer runs in a
 * process of its own and gives a PDF no access to the page, so the policy forbids everything else.
 */
function previewPolicy(type: string): string {
	const nothing = "default-src 'none'; frame-ancestors 'self'";
	return type === "application/pdf"
		? `${nothing}; object-src 'self'; style-src 'unsafe-inline'`
		: `sandbox; ${nothing}; img-src 'self'; style-src 'unsafe-inline'`;
}
