import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
	checksums,
	type Signer,
	signChecksums,
} from "../agent/packages/repositories.ts";

const SUMS = "SHA256SUMS";
const SIGNATURE = `${SUMS}.asc`;
const KEY = "assay.asc";

/**
 * Writes the checksums of all files of a release into SHA256SUMS, and signs that file. A release
 * calls this once more after a file was added, such as the list of images.
 */
export function writeChecksums(folder: string, signer?: Signer): void {
	const own = new Set([SUMS, SIGNATURE, KEY]);
	const files = readdirSync(folder).filter((name) => !own.has(name));
	writeFileSync(join(folder, SUMS), checksums(folder, files));
	if (signer) signChecksums(folder, KEY, signer);
}
