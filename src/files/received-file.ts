import { createHash } from "node:crypto";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import { type FileLimits, inWords } from "./file-limits.ts";
import { ARCHIVE_END, TypeCheck } from "./file-types.ts";
import { scan } from "./scanner.ts";

/** Largest part of a file that is stored or sent at a time. The database checks it too. */
export const CHUNK_BYTES = 256 * 1024;

/** An uploaded file that was checked and is not stored yet. */
export interface ReceivedFile {
	fileName: string;
	contentType: string;
	sizeBytes: number;
	sha256: Buffer;
	/** Returns the content in parts of CHUNK_BYTES. It can be read more than once. */
	parts(): AsyncIterable<Buffer>;
}

/**
 * Receives a file, checks its size, type and content, and passes it to `use`. The
 * file lies on the disk under no name meanwhile, so nothing is left of it when this function ends,
 * or when the process is killed. No memory is needed for the whole file, and no database
 * connection while a slow sender sends.
 *
 * Throws bad_request for a file that is empty, too large, not of the type that its name
 * says, or that contains malware.
 */
export async function receiveFile<Result>(
	fileName: string,
	body: { parts: AsyncIterable<Buffer>; announcedBytes: number },
	limits: FileLimits,
	use: (file: ReceivedFile) => Promise<Result>,
): Promise<Result> {
	const check = new TypeCheck(fileName);
	if (body.announcedBytes > limits.maxFileBytes) throw tooLarge(limits);
	const handle = await openNameless();
	try {
		const hash = createHash("sha256");
		let sizeBytes = 0;
		for await (const bytes of body.parts) {
			if (sizeBytes + bytes.length > limits.maxFileBytes)
				throw tooLarge(limits);
			check.add(bytes);
			hash.update(bytes);
			await handle.write(bytes, 0, bytes.length, sizeBytes);
			sizeBytes += bytes.length;
		}
		if (sizeBytes === 0) {
			throw new AppError(
				"bad_request",
				"the file is empty; send its content as the body of the request",
			);
		}
		const tailBytes = check.isArchive ? Math.min(sizeBytes, ARCHIVE_END) : 0;
		check.end(await readAt(handle, sizeBytes - tailBytes, tailBytes));
		const parts = () => readParts(handle, sizeBytes);
		if (limits.scanner) await scan(limits.scanner, parts());
		return await use({
			fileName,
			contentType: check.contentType,
			sizeBytes,
			sha256: hash.digest(),
			parts,
		});
	} finally {
		await handle.close();
	}
}

/** Opens a file that has no name, so the operating system removes it when it is closed. */
async function openNameless(): Promise<FileHandle> {
	const folder = await mkdtemp(join(tmpdir(), "assay-upload-"));
	try {
		return await open(join(folder, "file"), "wx+", 0o600);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

async function* readParts(
	handle: FileHandle,
	sizeBytes: number,
): AsyncGenerator<Buffer> {
	for (let at = 0; at < sizeBytes; at += CHUNK_BYTES) {
		yield await readAt(handle, at, Math.min(CHUNK_BYTES, sizeBytes - at));
	}
}

async function readAt(
	handle: FileHandle,
	position: number,
	length: number,
): Promise<Buffer> {
	const bytes = Buffer.alloc(length);
	for (let read = 0; read < length; ) {
		const { bytesRead } = await handle.read(
			bytes,
			read,
			length - read,
			position + read,
		);
		if (bytesRead === 0) throw new Error("the received file became shorter");
		read += bytesRead;
	}
	return bytes;
}

function tooLarge({ maxFileBytes }: FileLimits): AppError {
	return new AppError(
		"bad_request",
		`the file is too large; it may have at most ${inWords(maxFileBytes)}`,
	);
}
