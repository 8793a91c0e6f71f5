import { readFile } from "node:fs/promises";
import { ReadableStream } from "node:stream/web";
import { getSystemErrorMessage } from "node:util";
import type { Decrypter } from "age-encryption";
import { AppError } from "../errors.ts";
import { describeUser } from "./acting-user.ts";
import { age } from "./age.ts";
import { damaged } from "./format.ts";
import { isRecipient } from "./recipient.ts";

/** First bytes of a file that is encrypted with age (https://age-encryption.org/v1). */
export const AGE_MAGIC = Buffer.from("age-encryption.org/v1\n");

/** An identity has 74 characters, or about 2,000 if it resists quantum computers. */
const MAX_IDENTITY_FILE_BYTES = 65_536;

/**
 * Returns a function that encrypts a stream for the recipients, in constant memory. Without
 * recipients, the function yields the bytes unchanged. Throws bad_request if a recipient is no
 * public key of age, so call it before there is anything to encrypt.
 */
export function encryptionFor(
	recipients: readonly string[],
): (bytes: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
	const { Encrypter } = age();
	const encrypter = new Encrypter();
	for (const recipient of recipients) {
		if (!isRecipient(recipient)) {
			throw new AppError(
				"bad_request",
				`ASSAY_BACKUP_RECIPIENTS contains ${recipient}, which is not a public key of age; \`age-keygen -y FILE\` prints the public key of an identity`,
			);
		}
		encrypter.addRecipient(recipient);
	}
	return async function* encrypt(bytes) {
		if (recipients.length === 0) {
			yield* bytes;
			return;
		}
		yield* buffers(await encrypter.encrypt(ReadableStream.from(bytes)));
	};
}

/**
 * Reads the identities that decrypt backups: one a line, as `age-keygen` writes them. Returns
 * undefined if no file is configured. Throws bad_request if the file cannot be read or a line is no
 * identity. The error names the line and never contains it.
 */
export async function readIdentities(
	file: string | undefined,
): Promise<Decrypter | undefined> {
	if (file === undefined) return undefined;
	const wrong = (what: string, cause?: unknown) =>
		new AppError(
			"bad_request",
			`ASSAY_BACKUP_IDENTITY_FILE names ${file}, ${what}`,
			{ cause },
		);
	const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
		throw wrong(
			`which cannot be read: ${getSystemErrorMessage(error.errno ?? 0)}; ${describeUser()}`,
			error,
		);
	});
	if (bytes.length > MAX_IDENTITY_FILE_BYTES) {
		throw wrong(`which has more than ${MAX_IDENTITY_FILE_BYTES} bytes`);
	}
	const { Decrypter } = age();
	const decrypter = new Decrypter();
	let count = 0;
	for (const [index, text] of bytes.toString("utf8").split("\n").entries()) {
		const line = text.trim();
		if (line === "" || line.startsWith("#")) continue;
		try {
			decrypter.addIdentity(line);
		} catch {
			throw wrong(
				`whose line ${index + 1} is not an identity of age, such as AGE-SECRET-KEY-1…`,
			);
		}
		count++;
	}
	if (count === 0) throw wrong("which has no identity of age");
	return decrypter;
}

/**
 * Yields the content of a backup that is encrypted, and the bytes of any other file unchanged.
 * Throws bad_request if the file is encrypted and there is no identity, or none that fits, and if
 * the file was changed or cut off.
 */
export async function* decrypt(
	bytes: AsyncIterable<Buffer>,
	identities: Decrypter | undefined,
): AsyncGenerator<Buffer> {
	const { isEncrypted, all } = await lookAhead(bytes);
	if (!isEncrypted) {
		yield* all;
		return;
	}
	if (!identities) {
		throw new AppError(
			"bad_request",
			"the file is encrypted; set ASSAY_BACKUP_IDENTITY_FILE to the file with the identity that decrypts it",
		);
	}
	try {
		yield* buffers(await identities.decrypt(ReadableStream.from(all)));
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw error instanceof Error && error.message.startsWith("no identity")
			? new AppError(
					"bad_request",
					"the file is encrypted for other recipients; no identity in ASSAY_BACKUP_IDENTITY_FILE decrypts it",
					{ cause: error },
				)
			: damaged();
	}
}

/**
 * Finds out whether a file is encrypted. `all` yields the whole file, also what was read for that.
 */
async function lookAhead(bytes: AsyncIterable<Buffer>) {
	const rest = bytes[Symbol.asyncIterator]();
	let head: Buffer = Buffer.alloc(0);
	while (head.length < AGE_MAGIC.length) {
		const next = await rest.next();
		if (next.done) break;
		head = Buffer.concat([head, next.value]);
	}
	async function* all() {
		yield head;
		for (let next = await rest.next(); !next.done; next = await rest.next()) {
			yield next.value;
		}
	}
	const isEncrypted = head.subarray(0, AGE_MAGIC.length).equals(AGE_MAGIC);
	return { isEncrypted, all: all() };
}

async function* buffers(
	stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
	for await (const { buffer, byteOffset, byteLength } of stream) {
		yield Buffer.from(buffer, byteOffset, byteLength);
	}
}
