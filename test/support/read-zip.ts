import { crc32, inflateRawSync } from "node:zlib";

/**
 * Reads the files of a ZIP file by its directory, as programs that unpack it do. Throws if a checksum
 * or a size is wrong, or if the directory and the headers of the files do not agree. `before` is the
 * number of bytes that stand before the ZIP file.
 */
export function readZip(zip: Buffer, before = 0): Map<string, Buffer> {
	const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
	let count = zip.readUInt16LE(end + 10);
	let at = zip.readUInt32LE(end + 16) - before;
	if (end >= 20 && zip.readUInt32LE(end - 20) === 0x07064b50) {
		const longEnd = Number(zip.readBigUInt64LE(end - 12)) - before;
		if (zip.readUInt32LE(longEnd) !== 0x06064b50) throw new Error("no ZIP64");
		count = Number(zip.readBigUInt64LE(longEnd + 32));
		at = Number(zip.readBigUInt64LE(longEnd + 48)) - before;
	}
	const files = new Map<string, Buffer>();
	for (; count > 0; count--) {
		const crc = zip.readUInt32LE(at + 16);
		const packedSize = zip.readUInt32LE(at + 20);
		const size = zip.readUInt32LE(at + 24);
		const nameLength = zip.readUInt16LE(at + 28);
		const extraLength = zip.readUInt16LE(at + 30);
		const nameEnd = at + 46 + nameLength;
		const name = zip.toString("utf8", at + 46, nameEnd);
		const offset = zip.readUInt32LE(at + 42);
		const isFar = offset === 0xffff_ffff;
		const header =
			(isFar ? Number(zip.readBigUInt64LE(nameEnd + 4)) : offset) - before;
		at += 46 + nameLength + extraLength;
		const start = header + 30 + nameLength + zip.readUInt16LE(header + 28);
		if (zip.toString("utf8", header + 30, header + 30 + nameLength) !== name) {
			throw new Error(`${name} has another name in its header`);
		}
		const content = inflateRawSync(zip.subarray(start, start + packedSize));
		if (content.length !== size || crc32(content) !== crc) {
			throw new Error(`${name} is damaged`);
		}
		if (files.has(name)) throw new Error(`${name} is there twice`);
		files.set(name, content);
	}
	return files;
}
