import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { COMMON_PASSWORDS_FILE, digestOf } from "./common-passwords.ts";
import { MIN_PASSWORD } from "./password-rules.ts";

/**
 * Writes common-passwords.bin from a list on standard input, with one password a line, the most
 * common first. The list is the "10-million-password-list-top-1000000.txt" of SecLists (MIT), which
 * is Mark Burnett's (public domain). Only hashes are kept, as many of the words are no pleasure to
 * read.
 */
const COUNT = 10_000;

const lines = (await text(process.stdin)).split("\n");
const passwords = lines
	.map((line) => line.trim().toLowerCase())
	.filter((password) => password.length >= MIN_PASSWORD);
const common = [...new Set(passwords)].slice(0, COUNT);
if (common.length < COUNT) {
	throw new Error(`the list has ${common.length} that are long enough`);
}
writeFileSync(
	COMMON_PASSWORDS_FILE,
	Buffer.concat(common.map(digestOf).sort(Buffer.compare)),
);
