import { crc32, inflateRawSync } from "node:zlib";

/**
 * Reads the files of a ZIP file below 4 GiB by its directory, as programs that unpack it do. Throws if
 * a checksum or a size is wrong, or if the directory and the headers of the files do not agree.
 */
export function readZip(zip: Buffer): Map<string, Buffer> {
	const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
	let count = zip.readUInt16LE(end + 10);
	let at = zip.readUInt32LE(end + 16);
	const files = new Map<string, Buffer>();
	for (; count > 0; count--) {
		const crc = zip.readUInt32LE(at + 16);
		const packedSize = zip.readUInt32LE(at + 20);
		const size = zip.readUInt32LE(at + 24);
		const nameLength = zip.readUInt16LE(at + 28);
		const extraLength = zip.readUInt16LE(at + 30);
		const nameEnd = at + 46 + nameLength;
		const name = zip.toString("utf8", at + 46, nameEnd);
		const header = zip.readUInt32LE(at + 42);
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
