import { createHash } from "node:crypto";
import {
	appendFile,
	link,
	mkdir,
	rename,
	rm,
	symlink,
	utimes,
	writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Checksums, readSums } from "../../src/agent-packages/checksums.ts";
import { readFolder } from "../../src/agent-packages/read-folder.ts";
import { examinePackages } from "../../src/cli/doctor-packages.ts";
import { makeFolder } from "../support/folder.ts";

const DEB = "assay-agent_1.4.0_amd64.deb";
const RPM = "assay-agent-1.4.0-1.x86_64.rpm";
const MSI = "assay-agent-1.3.0-x64.msi";
const sha256 = (text: string) =>
	createHash("sha256").update(text).digest("hex");

let folder: string;
beforeEach(async () => {
	folder = await makeFolder("assay-read-");
	await mkdir(join(folder, "repodata"));
	await writeFile(join(folder, "repodata/repomd.xml"), "<repomd/>");
	await writeFile(join(folder, DEB), "the deb");
	await writeFile(join(folder, RPM), "the rpm");
	await writeFile(join(folder, MSI), "the msi");
	await writeList([DEB, "the deb"], [RPM, "the rpm"]);
	await addSum(MSI, "the msi");
});

const at = (name: string) => join(folder, name);
const read = (checksums = new Checksums()) => readFolder(folder, checksums);

/** Adds the checksum of a package that packages.json does not name. */
const addSum = (file: string, text: string) =>
	appendFile(at("SHA256SUMS"), `${sha256(text)}  ${file}\n`);

/** Adds a package that packages.json does not name. */
async function addPackage(file: string) {
	await writeFile(at(file), file);
	await addSum(file, file);
}

async function writeList(...packages: [file: string, text: string][]) {
	await writeFile(
		at("SHA256SUMS"),
		packages.map(([file, text]) => `${sha256(text)}  ${file}\n`).join(""),
	);
	const listed = packages.map(([file, text]) => ({
		file,
		platform: "LINUX",
		architecture: "x64",
		format: file.endsWith("deb") ? "deb" : "rpm",
		bytes: text.length,
		sha256: sha256(text),
	}));
	await writeFile(
		at("packages.json"),
		JSON.stringify({ version: "1.4.0", is_signed: true, packages: listed }),
	);
}

test("a folder as it was built is offered whole", async () => {
	const { list, files, withheld } = await read();
	expect(withheld).toEqual([]);
	expect(list.packages.map(({ file }) => file)).toEqual([DEB, RPM]);
	expect([...files.keys()].sort()).toEqual(
		[
			DEB,
			RPM,
			MSI,
			"SHA256SUMS",
			"packages.json",
			"repodata/repomd.xml",
		].sort(),
	);
	expect(await examinePackages(folder)).toMatchObject({
		status: "ok",
		found: expect.stringContaining("LINUX 1.4.0, WINDOWS 1.3.0") as string,
	});
});

test("the newest version is that of each platform, also of packages that the list does not name", async () => {
	await addPackage("assay-agent_1.10.0_amd64.deb");
	await writeFile(at("assay-agent_1.11.0_notes.txt"), "no package");
	expect((await read()).newest).toEqual({ LINUX: "1.10.0", WINDOWS: "1.3.0" });
});

test("a version that only one architecture has is not the newest until the other one has it too", async () => {
	await addPackage("assay-agent_1.4.0_arm64.deb");
	expect((await read()).newest.LINUX).toBe("1.4.0");
	await addPackage("assay-agent_1.10.0_amd64.deb");
	expect((await read()).newest.LINUX).toBe("1.4.0");
	await addPackage("assay-agent-1.9.0-1.aarch64.rpm");
	expect((await read()).newest.LINUX).toBe("1.9.0");
	await addPackage("assay-agent_1.10.0_arm64.deb");
	expect((await read()).newest).toEqual({ LINUX: "1.10.0", WINDOWS: "1.3.0" });
});

test("a package without a checksum is not offered and is no newest version, and doctor says so", async () => {
	const planted = "assay-agent_9.0.0_amd64.deb";
	await writeFile(at(planted), "a package of somebody else");
	const { files, newest, withheld } = await read();
	expect(files.has(planted)).toBe(false);
	expect(newest.LINUX).toBe("1.4.0");
	const reason = "has no checksum in packages.json or SHA256SUMS";
	expect(withheld).toEqual([{ file: planted, reason }]);
	expect(await examinePackages(folder)).toMatchObject({
		status: "problem",
		found: expect.stringContaining(`${planted} ${reason}`) as string,
	});
});

test("a file that does not belong to the packages is neither offered nor named", async () => {
	for (const name of ["private-key.pem", "backup.tar.gz", "repodata/key.pem"]) {
		await writeFile(at(name), "secret");
	}
	await addSum("private-key.pem", "secret");
	const { files, withheld } = await read();
	expect([...files.keys()].filter((name) => /key|backup/.test(name))).toEqual(
		[],
	);
	expect(withheld).toEqual([]);
});

test("the files that build:packages makes beside the packages are offered", async () => {
	const made = [
		"agent-update.json",
		"assay-agent.asc",
		"InRelease",
		"Packages",
		"Packages.gz",
		"Release",
		"Release.gpg",
		"SHA256SUMS.asc",
		"repodata/0f3a-filelists.xml.gz",
		"repodata/0f3a-primary.xml.zst",
		"repodata/repomd.xml.asc",
	];
	for (const name of made) await writeFile(at(name), "made");
	const { files, withheld } = await read();
	expect([...files.keys()]).toEqual(expect.arrayContaining(made));
	expect(withheld).toEqual([]);
});

test.each([
	"packages.json",
	"SHA256SUMS",
])("a package with another checksum than %s names is not offered, and doctor says so", async (name) => {
	await writeList([DEB, "the deb"], [RPM, "the rpm"]);
	const wrong = sha256("another one");
	if (name === "SHA256SUMS") {
		await writeFile(at(name), `${wrong} *${DEB}\n`);
		await addSum(MSI, "the msi");
	} else {
		await writeFile(
			at(name),
			JSON.stringify({
				version: "1.4.0",
				is_signed: true,
				packages: [
					{
						file: DEB,
						platform: "LINUX",
						architecture: "x64",
						format: "deb",
						bytes: 7,
						sha256: wrong,
					},
				],
			}),
		);
		await addSum(MSI, "the msi");
	}
	const { list, files, newest, withheld } = await read();
	expect(list.packages.map(({ file }) => file)).not.toContain(DEB);
	expect(files.has(DEB)).toBe(false);
	expect(files.has(RPM)).toBe(true);
	expect(newest.LINUX).toBe("1.4.0");
	expect(withheld).toEqual([
		{
			file: DEB,
			reason: `does not have the SHA-256 that ${name} names`,
		},
	]);
	expect(await examinePackages(folder)).toMatchObject({
		status: "problem",
		found: expect.stringContaining(`${DEB} does not have`) as string,
	});
});

test("a package that the list names and that is not there is no newest version", async () => {
	await rm(at(DEB));
	await rm(at(RPM));
	const { list, newest, withheld } = await read();
	expect(list.packages).toEqual([]);
	expect(newest).toEqual({ WINDOWS: "1.3.0" });
	expect(withheld.map(({ file }) => file)).toEqual([DEB, RPM]);
	expect(withheld[0]?.reason).toContain("is not in the folder");
});

test("links to files and folders are not followed", async () => {
	const outside = await makeFolder("assay-outside-");
	await writeFile(join(outside, "secret"), "a secret");
	await symlink(join(outside, "secret"), at("Release"));
	await rename(at(RPM), join(outside, RPM));
	await symlink(join(outside, RPM), at(RPM));
	await rm(at("repodata"), { recursive: true });
	await writeFile(join(outside, "repomd.xml"), "<repomd/>");
	await symlink(outside, at("repodata"));
	const { files, withheld } = await read();
	expect([...files.keys()].sort()).toEqual(
		[DEB, MSI, "SHA256SUMS", "packages.json"].sort(),
	);
	expect(withheld.map(({ file }) => file).sort()).toEqual(
		[RPM, "repodata", "Release"].sort(),
	);
	expect(withheld.every(({ reason }) => reason.includes("is a link"))).toBe(
		true,
	);
	await rename(at("packages.json"), join(outside, "packages.json"));
	await symlink(join(outside, "packages.json"), at("packages.json"));
	await expect(read()).rejects.toThrow("is a link");
	expect((await examinePackages(folder)).status).toBe("problem");
});

test("a file is hashed again only when its size, its time or the file itself changes", async () => {
	const checksums = new Checksums();
	const time = new Date("2026-11-26T10:00:00Z");
	await utimes(at(DEB), time, time);
	expect((await read(checksums)).withheld).toEqual([]);
	// The hash is remembered, so other bytes with the same size and time go unnoticed.
	await writeFile(at(DEB), "THE DEB");
	await utimes(at(DEB), time, time);
	expect((await read(checksums)).withheld).toEqual([]);
	expect((await read()).withheld).toHaveLength(1);
	await utimes(at(DEB), time, new Date("2026-11-26T10:00:01Z"));
	expect((await read(checksums)).withheld).toHaveLength(1);
	// Another file with the same size and time.
	await writeFile(at("new"), "the deb");
	await utimes(at("new"), time, new Date("2026-11-26T10:00:01Z"));
	await link(at("new"), at("kept"));
	await rename(at("new"), at(DEB));
	expect((await read(checksums)).withheld).toEqual([]);
});

test("a list of another form is named in the error", async () => {
	await writeFile(at("packages.json"), '{"version":"one"}');
	await expect(read()).rejects.toThrow("packages.json is not a list");
});

test("SHA256SUMS is read in both forms of sha256sum, and other lines are skipped", () => {
	const sum = sha256("x");
	expect([
		...readSums(`${sum}  a.deb\r\n${sum} *b.deb\nnonsense\n${sum}  ../c.deb\n`),
	]).toEqual([
		["a.deb", sum],
		["b.deb", sum],
	]);
});
