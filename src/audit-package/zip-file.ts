import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw } from "node:zlib";
import { AppError } from "../errors.ts";

/** A file to write into a ZIP file. Its content is read once, after the files before it. */
export interface ZipEntry {
	path: string;
	content: AsyncIterable<Buffer>;
}

interface Written {
	name: Buffer;
	crc: number;
	size: number;
	packedSize: number;
	offset: number;
}

/** Largest values of the fields of 4 and 2 bytes. They say that a longer field has the value. */
const FOUR_BYTES = 0xffff_ffff;
const TWO_BYTES = 0xffff;

/** 2.0: compressed with Deflate. 4.5: has the longer fields of ZIP64. */
const VERSION = 20;
const VERSION_ZIP64 = 45;
/** The sizes follow the content, and names are UTF-8. */
const FLAGS = 0x0808;
const DEFLATE = 8;
/** Made on Unix: a regular file that everybody may read. */
const MADE_ON_UNIX = 3 << 8;
const REGULAR_FILE = 0o100644 * 0x1_0000;

/**
 * Yields a ZIP file (APPNOTE.TXT of PKWARE, 6.3.10). The entries are compressed one after the other,
 * so their sizes do not matter for the memory. `at` is the time that each entry bears, in UTC.
 * `before` is the number of bytes that stand before the ZIP file in the same file.
 *
 * Throws bad_request for an entry of 4 GiB or more. The whole file may be larger.
 */
export async function* zipFile(
	entries: AsyncIterable<ZipEntry>,
	at: Date,
	before = 0,
): AsyncGenerator<Buffer> {
	const written: Written[] = [];
	const time = timeOf(at);
	let offset = before;
	const counted = (bytes: Buffer) => {
		offset += bytes.length;
		return bytes;
	};
	for await (const { path, content } of entries) {
		const name = Buffer.from(path);
		const entry = { name, crc: 0, size: 0, packedSize: 0, offset };
		yield counted(
			Buffer.concat([
				fields([4, 0x04034b50], [2, VERSION], [2, FLAGS], [2, DEFLATE]),
				time,
				fields([4, 0], [4, 0], [4, 0], [2, name.length], [2, 0]),
				name,
			]),
		);
		for await (const part of deflate(content, entry)) yield counted(part);
		if (Math.max(entry.size, entry.packedSize) >= FOUR_BYTES) {
			throw new AppError(
				"bad_request",
				`${path} has 4 GiB or more, which is too much for a file in a ZIP file; choose a shorter period`,
			);
		}
		yield counted(fields([4, 0x08074b50], ...sums(entry)));
		written.push(entry);
	}
	const start = offset;
	for (const entry of written) yield counted(directoryEntry(entry, time));
	yield endOfDirectory(written.length, start, offset - start);
}

/** Compresses a content, and notes its checksum and sizes. */
async function* deflate(
	content: AsyncIterable<Buffer>,
	entry: Written,
): AsyncGenerator<Buffer> {
	async function* measured() {
		for await (const part of content) {
			entry.crc = crc32(part, entry.crc);
			entry.size += part.length;
			yield part;
		}
	}
	const raw = createDeflateRaw();
	// An error of the content reaches the reader through the compressed stream.
	const done = pipeline(Readable.from(measured()), raw);
	done.catch(() => {});
	try {
		for await (const part of raw as AsyncIterable<Buffer>) {
			entry.packedSize += part.length;
			yield part;
		}
		await done;
	} finally {
		raw.destroy();
	}
}

const sums = ({ crc, packedSize, size }: Written): Field[] => [
	[4, crc],
	[4, packedSize],
	[4, size],
];

function directoryEntry(entry: Written, time: Buffer): Buffer {
	const { name, offset } = entry;
	const isFar = offset >= FOUR_BYTES;
	const extra = isFar ? fields([2, 1], [2, 8], [8, offset]) : Buffer.alloc(0);
	const version = isFar ? VERSION_ZIP64 : VERSION;
	return Buffer.concat([
		fields([4, 0x02014b50], [2, MADE_ON_UNIX | version], [2, version]),
		fields([2, FLAGS], [2, DEFLATE]),
		time,
		fields(...sums(entry), [2, name.length], [2, extra.length], [2, 0]),
		fields(
			[2, 0],
			[2, 0],
			[4, REGULAR_FILE],
			[4, Math.min(offset, FOUR_BYTES)],
		),
		name,
		extra,
	]);
}

function endOfDirectory(count: number, start: number, size: number): Buffer {
	const end = fields(
		...([
			[4, 0x06054b50],
			[2, 0],
			[2, 0],
		] as Field[]),
		...([[2, Math.min(count, TWO_BYTES)]] as Field[]),
		...([[2, Math.min(count, TWO_BYTES)]] as Field[]),
		[4, Math.min(size, FOUR_BYTES)],
		[4, Math.min(start, FOUR_BYTES)],
		[2, 0],
	);
	if (count < TWO_BYTES && start + size < FOUR_BYTES) return end;
	const longEnd = fields(
		...([
			[4, 0x06064b50],
			[8, 44],
		] as Field[]),
		...([
			[2, VERSION_ZIP64],
			[2, VERSION_ZIP64],
			[4, 0],
			[4, 0],
		] as Field[]),
		...([
			[8, count],
			[8, count],
			[8, size],
			[8, start],
		] as Field[]),
	);
	const locator = fields([4, 0x07064b50], [4, 0], [8, start + size], [4, 1]);
	return Buffer.concat([longEnd, locator, end]);
}

/** Writes a time as MS-DOS did: two seconds at a time, since 1980. */
function timeOf(at: Date): Buffer {
	const time =
		(at.getUTCHours() << 11) |
		(at.getUTCMinutes() << 5) |
		(at.getUTCSeconds() >> 1);
	const date =
		((at.getUTCFullYear() - 1980) << 9) |
		((at.getUTCMonth() + 1) << 5) |
		at.getUTCDate();
	return fields([2, time], [2, date]);
}

/** The length of a field in bytes, and its value. */
type Field = [bytes: 2 | 4 | 8, value: number];

/** Writes numbers one after the other, the lowest byte first. */
function fields(...given: Field[]): Buffer {
	return Buffer.concat(
		given.map(([bytes, value]) => {
			const field = Buffer.alloc(bytes);
			if (bytes === 8) field.writeBigUInt64LE(BigInt(value));
			else field.writeUIntLE(value, 0, bytes);
			return field;
		}),
	);
}
