import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONFIG_NAMES } from "../../agent/config-file.ts";
import { ACTIONS } from "../../agent/packages/build-windows.ts";

/**
 * `npm run verify:package-files` builds the rpms and the msi, and reads them back with rpm and
 * msitools: their files, owners and rights, scripts, tables and properties. It needs what
 * `build:packages` needs for Linux and Windows.
 */
const ROOT = join(import.meta.dirname, "../..");
const RELEASE = "0.1.0";

const work = mkdtempSync(join(tmpdir(), "assay-verify-"));
const read = (tool: string, ...args: string[]) =>
	execFileSync(tool, args, { cwd: work, encoding: "utf8" });

/** Returns the rows of a table of the msi, without the three lines that describe its columns. */
const rows = (msi: string, table: string) =>
	read("msiinfo", "export", msi, table)
		.trim()
		.split(/\r?\n/)
		.slice(3)
		.map((line) => line.split("\t"));

function checkRpm(architecture: string): void {
	const rpm = `assay-agent-${RELEASE}-1.${architecture}.rpm`;
	const files = read(
		"rpm",
		"-qp",
		"--qf",
		"[%{FILEMODES:perms} %{FILEUSERNAME} %{FILENAMES}\n]",
		rpm,
	);
	assert.deepEqual(files.trim().split("\n"), [
		"drwxr-xr-x root /etc/assay-agent",
		"-rwxr-xr-x root /usr/bin/assay-agent",
		"-rw-r--r-- root /usr/lib/systemd/system/assay-agent.service",
		"drwxr-xr-x root /usr/share/doc/assay-agent",
		"-rw-r--r-- root /usr/share/doc/assay-agent/config.example",
		"-rw-r--r-- root /usr/share/doc/assay-agent/copyright",
	]);
	assert.equal(read("rpm", "-qp", "--qf", "%{ARCH}", rpm), architecture);
	const scripts = read("rpm", "-qp", "--scripts", rpm);
	for (const part of [
		"systemctl restart assay-agent",
		"systemctl try-restart assay-agent",
		"assay-agent uninstall",
	]) {
		assert.ok(scripts.includes(part), `${rpm} does not run ${part}`);
	}
	console.log(
		`${rpm}: ${files.trim().split("\n").length} files and their scripts`,
	);
}

function checkMsi(): void {
	const msi = `assay-agent-${RELEASE}-x64.msi`;
	const properties = Object.fromEntries(rows(msi, "Property"));
	assert.equal(properties.ProductVersion, RELEASE);
	assert.equal(properties.ALLUSERS, "1");
	const hidden = properties.MsiHiddenProperties?.split(";");
	for (const name of ["KEYFILE", "OWNEREMAIL", "Configure"]) {
		assert.ok(hidden?.includes(name), `the log of msiexec shows ${name}`);
	}
	const secure = properties.SecureCustomProperties?.split(";");
	for (const name of CONFIG_NAMES) {
		assert.ok(secure?.includes(name), `an administrator cannot pass ${name}`);
	}
	assert.deepEqual(
		rows(msi, "CustomAction").map(([name, type]) => [name, Number(type)]),
		ACTIONS.map(({ name, type }) => [name, type]),
	);
	const sequence = new Map(
		rows(msi, "InstallExecuteSequence").map(([name, , at]) => [
			name,
			Number(at),
		]),
	);
	const order = [
		"RemoveExistingProducts",
		"StopTask",
		"Uninstall",
		"RemoveFiles",
		"InstallFiles",
		"WriteEnvironmentStrings",
		"Configure",
		"InstallFinalize",
	];
	const places = order.map((name) => sequence.get(name) ?? Number.NaN);
	assert.ok(places.every(Number.isFinite), `${msi} lacks one of ${order}`);
	assert.deepEqual(
		places,
		places.toSorted((a, b) => a - b),
	);
	assert.deepEqual(rows(msi, "Environment"), [
		["InPath", "=-*PATH", "[~];[INSTALLDIR]", "Program"],
	]);
	assert.deepEqual(
		rows(msi, "Upgrade").map((row) => row.at(-1)),
		["WIX_UPGRADE_DETECTED", "WIX_DOWNGRADE_DETECTED"],
	);
	assert.deepEqual(read("msiextract", "-l", msi).trim().split("\n"), [
		"Assay Agent/assay-agent.exe",
		"Assay Agent/LICENSES.txt",
	]);
	read("msiextract", msi);
	const program = execFileSync("head", [
		"-c",
		"2",
		join(work, "Assay Agent/assay-agent.exe"),
	]);
	assert.equal(program.toString("latin1"), "MZ");
	console.log(`${msi}: its files, tables and properties`);
}

try {
	execFileSync(
		process.execPath,
		[
			join(ROOT, "agent/packages/build-packages.ts"),
			...["--only", "linux-x64", "linux-arm64", "win-x64"],
			...["--formats", "rpm", "--level", "0"],
			...["--release", RELEASE, "--out", work],
		],
		{ stdio: "inherit" },
	);
	checkRpm("x86_64");
	checkRpm("aarch64");
	checkMsi();
	execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], {
		cwd: work,
	});
	console.log("SHA256SUMS matches.");
} finally {
	rmSync(work, { recursive: true, force: true });
}
