import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { COMMON_PASSWORDS_FILE, digestOf } from "./common-passwords.ts";
import { MIN_PASSWORD } from "./password-length.ts";

/**
 * Writes common-passwords.bin from a list on standard input. The list has one password on each
 * line, the most common first. We use "10-million-password-list-top-1000000.txt" of SecLists (MIT),
 * which Mark Burnett made (public domain). The file keeps only hashes, because many of the words
 * are unpleasant to read.
 */
const COUNT = 10_000;

const lines = (await text(process.stdin)).split("\n");
const passwords = lines
	.map((line) => line.trim().toLowerCase())
	.filter((password) => password.length >= MIN_PASSWORD);
const common = [...new Set(passwords)].slice(0, COUNT);
if (common.length < COUNT) {
	throw new Error(
		`only ${common.length} passwords of the list are long enough, but ${COUNT} are needed`,
	);
}
writeFileSync(
	COMMON_PASSWORDS_FILE,
	Buffer.concat(common.map(digestOf).sort(Buffer.compare)),
);
