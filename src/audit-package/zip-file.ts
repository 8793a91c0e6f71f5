import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";

/** A file to write into a ZIP file. Its content is read once, after the files before it. */
export interface ZipEntry {
	path: string;
	content: AsyncIterable<Buffer>;
}

/** Every file in it is a regular file that everybody may read. */
const MODE = 0o100644;

/**
 * Yields a ZIP file. The entries are compressed one after the other, so their sizes do not matter for
 * the memory. `at` is the time that each entry bears.
 */
export async function* zipFile(
	entries: AsyncIterable<ZipEntry>,
	at: Date,
): AsyncGenerator<Buffer> {
	const zip = new ZipFile();
	const output = Readable.from(zip.outputStream);
	let content: Readable | undefined;
	const adding = (async () => {
		for await (const entry of entries) {
			content = Readable.from(entry.content);
			zip.addReadStream(content, entry.path, { mtime: at, mode: MODE });
			await finished(content);
		}
		zip.end();
	})();
	adding.catch((error) => output.destroy(error));
	try {
		yield* output;
	} finally {
		// If the reader has left, this ends the reading of the entries too.
		content?.destroy();
		await adding.catch(() => {});
	}
}
