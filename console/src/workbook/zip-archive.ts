import { damaged, UnreadableWorkbook } from "./unreadable-workbook.ts";
import { makePageYield } from "./yield-to-page.ts";

/**
 * Longest part of a workbook after unzipping, in bytes. Some 10,000 rows with 200 filled columns
 * take so much. A file of 16 MB could otherwise unpack to 16 GB.
 */
export const MAX_UNZIPPED = 128 * 1024 * 1024;

/**
 * Packed bytes that are unpacked at once. They become at most a thousand times as many, and the
 * limit is checked after each slice.
 */
const SLICE = 8 * 1024;
/** Bytes of a part without compression that are read at once. */
const STORED_SLICE = 64 * 1024;

const END = 0x06054b50;
const END_LENGTH = 22;
const LONGEST_COMMENT = 0xffff;
const LARGE_LOCATOR = 0x07064b50;
const ENTRY = 0x02014b50;
const ENTRY_LENGTH = 46;
const LOCAL_LENGTH = 30;
/** Stands for a number that is in a further field, because it may need 64 bits. */
const IN_LARGE = 0xffffffff;

interface Entry {
	isEncrypted: boolean;
	method: number;
	packedBytes: number;
	offset: number;
}

/**
 * A zip archive in memory. The list of its parts is read first, and a part only when it is needed.
 * Upper and lower case make no difference in the names of parts, as in all Office files.
 */
export class ZipArchive {
	readonly #bytes: Uint8Array<ArrayBuffer>;
	readonly #entries: ReadonlyMap<string, Entry>;

	/** Throws UnreadableWorkbook if the bytes are no zip archive. */
	constructor(bytes: Uint8Array<ArrayBuffer>) {
		this.#bytes = bytes;
		this.#entries = readEntries(bytes);
	}

	/** The names of the parts, in lower case. */
	get names(): readonly string[] {
		return [...this.#entries.keys()];
	}

	has(name: string): boolean {
		return this.#entries.has(name.toLowerCase());
	}

	/**
	 * Yields the text of a part in pieces, or nothing if the archive has no such part. Between two
	 * pieces the page can react. Throws UnreadableWorkbook if the part is damaged or too long.
	 */
	async *read(name: string): AsyncGenerator<string, void> {
		const entry = this.#entries.get(name.toLowerCase());
		if (!entry) return;
		const packed = packedBytes(this.#bytes, entry);
		const decoder = new TextDecoder();
		let total = 0;
		const yieldIfDue = makePageYield();
		for await (const bytes of unpack(entry, packed)) {
			total += bytes.length;
			if (total > MAX_UNZIPPED) {
				throw new UnreadableWorkbook(
					`has a sheet or texts of more than ${MAX_UNZIPPED / 1024 / 1024} MB after unzipping, the limit for one import. Copy the rows to import into a new workbook, and choose that file.`,
				);
			}
			yield decoder.decode(bytes, { stream: true });
			await yieldIfDue();
		}
		yield decoder.decode();
	}
}

/** Yields the unpacked bytes of a part, as the browser's own decompression returns them. */
async function* unpack(
	{ isEncrypted, method }: Entry,
	packed: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Uint8Array, void> {
	if (isEncrypted) throw damaged();
	if (method === 0) {
		for (let at = 0; at < packed.length; at += STORED_SLICE) {
			yield packed.subarray(at, at + STORED_SLICE);
		}
		return;
	}
	if (method !== 8) throw damaged();
	let at = 0;
	const slices = new ReadableStream<Uint8Array<ArrayBuffer>>(
		{
			pull(controller) {
				if (at >= packed.length) controller.close();
				else controller.enqueue(packed.subarray(at, at + SLICE));
				at += SLICE;
			},
		},
		{ highWaterMark: 0 },
	);
	const reader = slices
		.pipeThrough(new DecompressionStream("deflate-raw"))
		.getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read().catch(() => {
				throw damaged();
			});
			if (done) return;
			yield value;
		}
	} finally {
		// A sheet is often left before its end. Errors of the rest do not matter then.
		await reader.cancel().catch(() => {});
	}
}

/** Returns the parts that the archive's list at its end names. */
function readEntries(bytes: Uint8Array<ArrayBuffer>): Map<string, Entry> {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	const decoder = new TextDecoder();
	const entries = new Map<string, Entry>();
	try {
		const { count, offset } = readEnd(view);
		let at = offset;
		for (let n = 0; n < count; n++) {
			if (view.getUint32(at, true) !== ENTRY) throw damaged();
			const nameLength = view.getUint16(at + 28, true);
			const extraLength = view.getUint16(at + 30, true);
			const begin = at + ENTRY_LENGTH;
			const large = readLarge(view, at, begin + nameLength, extraLength);
			// Some programs write the separators of Windows.
			const name = decoder
				.decode(bytes.subarray(begin, begin + nameLength))
				.replaceAll("\\", "/")
				.toLowerCase();
			entries.set(name, {
				isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
				method: view.getUint16(at + 10, true),
				...large,
			});
			at = begin + nameLength + extraLength + view.getUint16(at + 32, true);
		}
	} catch (error) {
		if (error instanceof RangeError) throw damaged();
		throw error;
	}
	return entries;
}

/** Returns the number of parts and the place of their list. */
function readEnd(view: DataView): { count: number; offset: number } {
	const last = view.byteLength - END_LENGTH;
	for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--) {
		if (view.getUint32(at, true) !== END) continue;
		const offset = view.getUint32(at + 16, true);
		if (at >= 20 && view.getUint32(at - 20, true) === LARGE_LOCATOR) {
			const large = Number(view.getBigUint64(at - 12, true));
			return {
				count: Number(view.getBigUint64(large + 32, true)),
				offset: Number(view.getBigUint64(large + 48, true)),
			};
		}
		return { count: view.getUint16(at + 10, true), offset };
	}
	throw damaged();
}

/** Returns the packed length and the place of a part, also if they are in the field for 64 bits. */
function readLarge(
	view: DataView,
	at: number,
	extra: number,
	extraLength: number,
): Pick<Entry, "packedBytes" | "offset"> {
	const short = [24, 20, 42].map((place) => view.getUint32(at + place, true));
	for (let field = extra; field + 4 <= extra + extraLength; ) {
		if (view.getUint16(field, true) === 1) {
			let place = field + 4;
			const [, packedBytes = 0, offset = 0] = short.map((number) => {
				if (number !== IN_LARGE) return number;
				place += 8;
				return Number(view.getBigUint64(place - 8, true));
			});
			return { packedBytes, offset };
		}
		field += 4 + view.getUint16(field + 2, true);
	}
	const [, packedBytes = 0, offset = 0] = short;
	return { packedBytes, offset };
}

function packedBytes(
	bytes: Uint8Array<ArrayBuffer>,
	{ offset, packedBytes }: Entry,
): Uint8Array<ArrayBuffer> {
	if (offset + LOCAL_LENGTH > bytes.length) throw damaged();
	const view = new DataView(bytes.buffer, bytes.byteOffset + offset);
	const begin =
		offset + LOCAL_LENGTH + view.getUint16(26, true) + view.getUint16(28, true);
	if (begin + packedBytes > bytes.length) throw damaged();
	return bytes.subarray(begin, begin + packedBytes);
}
