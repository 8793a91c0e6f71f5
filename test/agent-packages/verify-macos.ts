import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * `npm run verify:macos` builds the archives for macOS and checks each program's ad-hoc signature as
 * macOS does: every page of the program must have the hash that the signature names. It needs what
 * `build:packages` needs for macOS. The numbers are those of Apple's <mach-o/loader.h> and
 * <kern/cs_blobs.h>.
 */
const MACH_O_64 = 0xfeedfacf;
const LC_CODE_SIGNATURE = 0x1d;
const EMBEDDED_SIGNATURE = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const CS_ADHOC = 0x2;
const CPU_TYPES = { arm64: 0x0100000c, x64: 0x01000007 };

const ROOT = join(import.meta.dirname, "../..");
const RELEASE = "0.1.0";

/** Returns the file offset of the signature, which the last load command names. */
function findSignature(program: Buffer): number {
	const commands = program.readUInt32LE(16);
	for (let at = 32, i = 0; i < commands; i++) {
		if (program.readUInt32LE(at) === LC_CODE_SIGNATURE) {
			return program.readUInt32LE(at + 8);
		}
		at += program.readUInt32LE(at + 4);
	}
	throw new Error("the program has no signature");
}

function findDirectory(signature: Buffer): Buffer {
	assert.equal(signature.readUInt32BE(0), EMBEDDED_SIGNATURE);
	for (let i = 0; i < signature.readUInt32BE(8); i++) {
		const directory = signature.subarray(signature.readUInt32BE(16 + 8 * i));
		if (directory.readUInt32BE(0) === CODE_DIRECTORY) return directory;
	}
	throw new Error("the signature has no code directory");
}

/** Throws unless the signature is ad hoc and its hashes are those of the program. */
function checkSignature(program: Buffer): void {
	const directory = findDirectory(program.subarray(findSignature(program)));
	assert.equal(directory.readUInt32BE(12), CS_ADHOC, "the flags");
	const hashes = directory.readUInt32BE(16);
	const name = directory.subarray(directory.readUInt32BE(20));
	assert.equal(name.toString("latin1", 0, name.indexOf(0)), "assay-agent");
	const end = directory.readUInt32BE(32);
	assert.equal(end, findSignature(program), "the end of what is signed");
	const size = directory[36] as number;
	const page = 2 ** (directory[39] as number);
	const count = directory.readUInt32BE(28);
	assert.equal(count, Math.ceil(end / page), "the number of pages");
	for (let i = 0; i < count; i++) {
		const bytes = program.subarray(i * page, Math.min((i + 1) * page, end));
		const at = hashes + i * size;
		assert.deepEqual(
			directory.subarray(at, at + size),
			createHash("sha256").update(bytes).digest().subarray(0, size),
			`page ${i}`,
		);
	}
}

const work = mkdtempSync(join(tmpdir(), "assay-verify-"));
try {
	execFileSync(
		process.execPath,
		[
			join(ROOT, "agent/packages/build-packages.ts"),
			...["--only", "darwin-arm64", "darwin-x64"],
			...["--release", RELEASE, "--out", work],
		],
		{ stdio: "inherit" },
	);
	for (const [architecture, type] of Object.entries(CPU_TYPES)) {
		const root = `assay-agent-${RELEASE}-darwin-${architecture}`;
		execFileSync("tar", ["-xzf", `${root}.tar.gz`], { cwd: work });
		const program = readFileSync(join(work, root, "assay-agent"));
		assert.equal(program.readUInt32LE(0), MACH_O_64);
		assert.equal(program.readUInt32LE(4), type);
		checkSignature(program);
		// A check that cannot fail proves nothing.
		program.writeUInt8(program.readUInt8(50_000) ^ 1, 50_000);
		assert.throws(() => checkSignature(program), /page 12/);
		console.log(`${root}: the ad-hoc signature matches the program.`);
	}
} finally {
	rmSync(work, { recursive: true, force: true });
}
