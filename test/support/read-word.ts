import { inflateRawSync } from "node:zlib";

/** Returns a part of a Word file, which is a zip archive. */
export function partOf(file: Buffer, name: string): string {
	for (let at = file.indexOf("PK\u0001\u0002"); at !== -1; ) {
		const sizes = {
			packed: file.readUInt32LE(at + 20),
			name: file.readUInt16LE(at + 28),
		};
		const found = file.toString("utf8", at + 46, at + 46 + sizes.name);
		if (found === name) {
			const local = file.readUInt32LE(at + 42);
			const begin =
				local +
				30 +
				file.readUInt16LE(local + 26) +
				file.readUInt16LE(local + 28);
			const packed = file.subarray(begin, begin + sizes.packed);
			const isPacked = file.readUInt16LE(at + 10) === 8;
			return (isPacked ? inflateRawSync(packed) : packed).toString("utf8");
		}
		at = file.indexOf("PK\u0001\u0002", at + 4);
	}
	throw new Error(`the file has no part ${name}`);
}

/** Returns the texts of a part, in order. */
export const textsIn = (xml: string) =>
	[...xml.matchAll(/<w:t(?: [^>]*)?>([^<]*)<\/w:t>/g)].map(([, text]) => text);
