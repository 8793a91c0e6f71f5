import { connect } from "node:net";
import { AppError } from "../errors.ts";
import type { ScannerAddress } from "./file-limits.ts";

/** Time in milliseconds without an answer after which a scan has failed. */
const SILENT_MS = 30_000;
/** Longest answer of clamd that is read. */
const MAX_ANSWER = 4_096;

/**
 * Sends a file to clamd with its command INSTREAM, and resolves if clamd finds nothing. Rejects with
 * bad_request if clamd finds malware, and with service_unavailable if it gives no clear answer: a
 * file that nobody has looked at is not stored.
 *
 * The protocol is in clamd(8): each part has its length before it, in 4 bytes, and a length of 0
 * ends the file.
 */
export async function scan(
	address: ScannerAddress,
	parts: AsyncIterable<Buffer>,
): Promise<void> {
	const answer = await exchange(address, parts).catch((cause) => {
		throw new AppError(
			"service_unavailable",
			"the malware scanner does not answer, so the file was not stored; retry later",
			{ cause },
		);
	});
	if (/: OK$/.test(answer)) return;
	const [, found] = /^stream: (.+) FOUND$/.exec(answer) ?? [];
	if (found !== undefined) {
		throw new AppError(
			"bad_request",
			`the malware scanner found ${found.slice(0, 100)} in the file, so it was not stored`,
		);
	}
	throw new AppError(
		"service_unavailable",
		"the malware scanner could not scan the file, so it was not stored; ask the operator to look at clamd and its StreamMaxLength",
		{ cause: new Error(answer) },
	);
}

async function exchange(
	address: ScannerAddress,
	parts: AsyncIterable<Buffer>,
): Promise<string> {
	const socket = connect(address);
	socket.setTimeout(SILENT_MS, () =>
		socket.destroy(new Error("clamd was silent for too long")),
	);
	const {
		promise: answered,
		resolve,
		reject,
	} = Promise.withResolvers<string>();
	// Writing may fail first, and this rejection would then be unhandled.
	answered.catch(() => {});
	let answer = "";
	socket.setEncoding("utf8");
	socket.on("data", (text: string) => {
		answer = (answer + text).slice(0, MAX_ANSWER);
	});
	socket.on("error", reject);
	socket.on("close", () =>
		answer === ""
			? reject(new Error("clamd closed the connection"))
			: resolve(answer.replaceAll("\0", "").trim()),
	);
	const write = (bytes: Buffer | string) =>
		new Promise<void>((done, fail) => {
			socket.write(bytes, (error) => (error ? fail(error) : done()));
		});
	try {
		await write("zINSTREAM\0");
		for await (const part of parts) {
			const length = Buffer.alloc(4);
			length.writeUInt32BE(part.length);
			await write(Buffer.concat([length, part]));
		}
		await write(Buffer.alloc(4));
	} catch (error) {
		// clamd answers and closes the connection when a file exceeds its limit.
		if (answer === "") socket.destroy(error as Error);
	}
	return answered.finally(() => socket.destroy());
}
