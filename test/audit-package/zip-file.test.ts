import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type ZipEntry, zipFile } from "../../src/audit-package/zip-file.ts";
import { readZip } from "../support/read-zip.ts";

const AT = new Date("2026-11-30T10:11:12Z");

/** Makes a file from contents, which arrive in parts of 1000 bytes. */
async function* entriesOf(
	contents: Record<string, Buffer>,
): AsyncGenerator<ZipEntry> {
	for (const [path, content] of Object.entries(contents)) {
		async function* parts() {
			for (let at = 0; at < content.length; at += 1000) {
				yield content.subarray(at, at + 1000);
			}
		}
		yield { path, content: parts() };
	}
}

const written = (entries: AsyncIterable<ZipEntry>) =>
	buffer(Readable.from(zipFile(entries, AT)));

test("files of every kind come out as they went in", async () => {
	const contents = {
		"README.txt": Buffer.from("Read me\n"),
		"empty.csv": Buffer.alloc(0),
		"documents/Zürich 日本.md": Buffer.from("# Zürich"),
		"evidence/random.bin": randomBytes(300_000),
		"evidence/zeros.bin": Buffer.alloc(3_000_000),
	};
	const zip = await written(entriesOf(contents));
	expect(readZip(zip)).toEqual(new Map(Object.entries(contents)));
	expect(zip.length).toBeLessThan(310_000);
});

test("a file without entries is a ZIP file", async () => {
	expect(readZip(await written(entriesOf({})))).toEqual(new Map());
});

test("an error while a file is read reaches the reader, and nothing more is read", async () => {
	const read: string[] = [];
	async function* broken(): AsyncGenerator<ZipEntry> {
		for (const path of ["good", "bad", "later"]) {
			async function* content() {
				read.push(path);
				yield Buffer.from(path);
				if (path === "bad") throw new Error("the database is gone");
			}
			yield { path, content: content() };
		}
	}
	await expect(written(broken())).rejects.toThrow("the database is gone");
	expect(read).toEqual(["good", "bad"]);
});

test("a reader who leaves ends the reading of the entries", async () => {
	let ended = 0;
	async function* endless(): AsyncGenerator<ZipEntry> {
		try {
			async function* content() {
				try {
					for (;;) yield randomBytes(100_000);
				} finally {
					ended += 1;
				}
			}
			yield { path: "endless", content: content() };
		} finally {
			ended += 1;
		}
	}
	for await (const part of zipFile(endless(), AT)) {
		if (part.length > 10_000) break;
	}
	expect(ended).toBe(2);
});
