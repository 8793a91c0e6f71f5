import { execFileSync } from "node:child_process";
import {
	chmodSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { makeDeb } from "../../agent/packages/deb-and-rpm.ts";
import {
	checkChangelog,
	checkNothingUnreleased,
	entryOf,
	giveToPreview,
} from "../../release/changelog.ts";
import { writeChecksums } from "../../release/checksums.ts";
import {
	packagedUnit,
	packFolder,
	serviceControl,
} from "../../release/linux-packages.ts";
import { neededPackages } from "../../release/needed-packages.ts";
import {
	deadLinks,
	markdownFiles,
	removeDeadLinks,
} from "../../release/packaged-links.ts";
import { checkPublished } from "../../release/release-key.ts";
import { copyParts, PARTS } from "../../release/tree.ts";
import { describeVersion, VERSION } from "../../src/version.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const readJson = (file: string) => JSON.parse(read(file));

test("the changelog has an entry for the version in package.json, with notes for the upgrade", () => {
	const changelog = read("CHANGELOG.md");
	expect(() => checkChangelog(changelog, VERSION)).not.toThrow();
});

test("a preview says what is new since the last release, and a release what is new in it", () => {
	const changelog =
		"# Changelog\n\n## [Unreleased]\n\n### Added\n\nA bell.\n\n## [1.4.0] - 2026-11-24\n\n### Added\n\nA wheel.\n";
	expect(entryOf(changelog, "1.4.0")).toBe(
		"## [1.4.0] - 2026-11-24\n\n### Added\n\nA wheel.\n",
	);
	expect(() => entryOf(changelog, "1.4.1")).toThrow("no entry of 1.4.1");
	const preview = giveToPreview(changelog, "1.4.1", "2026-11-26");
	expect(entryOf(preview, "1.4.1")).toBe(
		"## [1.4.1] - 2026-11-26 (preview)\n\n### Added\n\nA bell.\n",
	);
	expect(entryOf(preview, "1.4.0")).toBe(entryOf(changelog, "1.4.0"));
});

test("a release needs an entry in the changelog, with a date and notes for the upgrade", () => {
	const whole =
		"## [Unreleased]\n\n## [1.4.0] - 2026-11-24\n\n### Upgrading\n\nNothing to do.\n";
	expect(() => checkChangelog(whole, "1.4.0")).not.toThrow();
	expect(() => checkChangelog(whole, "1.4.1")).toThrow("no entry");
	const undated = whole.replace("2026-11-24", "soon");
	expect(() => checkChangelog(undated, "1.4.0")).toThrow('the date "soon"');
	const silent = whole.replace("Nothing to do.", "");
	expect(() => checkChangelog(silent, "1.4.0")).toThrow("### Upgrading");
	// Notes of another version do not count.
	const other = `${silent}\n## [1.3.0] - 2026-11-01\n\n### Upgrading\n\nMuch.\n`;
	expect(() => checkChangelog(other, "1.4.0")).toThrow("### Upgrading");
});

test("a release leaves no notes under Unreleased, which its files would lack", () => {
	const moved =
		"# Changelog\n\n## [Unreleased]\n\n## [1.4.0] - 2026-11-24\n\nA bell.\n";
	expect(() => checkNothingUnreleased(moved)).not.toThrow();
	const kept = moved.replace("[Unreleased]\n", "[Unreleased]\n\nA wheel.\n");
	expect(() => checkNothingUnreleased(kept)).toThrow("under Unreleased");
});

test("a release is signed only with a key whose fingerprint the repository shows", () => {
	const key = "0123456789ABCDEF0123456789ABCDEF01234567";
	const shown =
		"| releases | `0123 4567 89AB CDEF 0123  4567 89AB CDEF 0123 4567` |";
	expect(() => checkPublished(key, shown)).not.toThrow();
	expect(() => checkPublished(key, read("SECURITY.md"))).toThrow(key);
	expect(() => checkPublished("", shown)).toThrow("SECURITY.md");
});

test("an installation has every package that the program imports, and none of the build", () => {
	const needed = neededPackages(readJson("package-lock.json").packages);
	const { dependencies, optionalDependencies } = readJson("package.json");
	for (const name of Object.keys({
		...dependencies,
		...optionalDependencies,
	})) {
		expect(needed, name).toContain(`node_modules/${name}`);
	}
	for (const name of ["vite", "vitest", "react-dom", "typescript"]) {
		expect(needed).not.toContain(`node_modules/${name}`);
	}
});

test("a folder that every installation has imports no package for development", () => {
	const { devDependencies } = readJson("package.json");
	const imported = readdirSync(join(ROOT, "bin")).flatMap((file) =>
		[
			...read(`bin/${file}`).matchAll(/(?:from|import)[ (]*"([^".][^"]*)"/g),
		].map(([, name = ""]) => name.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? ""),
	);
	expect(imported).toContain("node:child_process");
	expect(imported.filter((name) => name in devDependencies)).toEqual([]);
	const shipped = [...PARTS, ...readJson("package.json").files];
	expect(shipped.filter((part) => part.startsWith("tools"))).toEqual([]);
});

test("a package is looked for where Node looks for it", () => {
	const packages = {
		"": { dependencies: { a: "1" } },
		"node_modules/a": { dependencies: { b: "2", c: "1" } },
		"node_modules/a/node_modules/b": { dependencies: { c: "1" } },
		"node_modules/b": {},
		"node_modules/c": {
			peerDependencies: { d: "1", e: "1" },
			peerDependenciesMeta: { e: { optional: true } },
		},
		"node_modules/d": {},
		"node_modules/e": {},
	};
	expect([...neededPackages(packages)].sort()).toEqual([
		"node_modules/a",
		"node_modules/a/node_modules/b",
		"node_modules/c",
		"node_modules/d",
	]);
});

test.each([
	"assay.service",
	"assay-backup.service",
	"assay-backup.timer",
])("the packaged %s runs the packaged program", (name) => {
	const unit = packagedUnit(read(`deploy/${name}`));
	expect(unit.startsWith("[Unit]\n")).toBe(true);
	expect(unit).not.toContain("/opt/");
	if (name.endsWith(".service")) {
		const folder = "/var/cache/assay";
		expect(unit).toContain(`Environment=NODE_COMPILE_CACHE=${folder}\n`);
		expect(read("release/prepare-machine")).toContain(folder);
		expect(read("bin/installed.ts")).toContain(`"${folder}"`);
	}
	for (const program of unit.match(/^ExecStart=.*node .*$/gm) ?? []) {
		expect(program).toContain("/usr/lib/assay/node_modules/.bin/node");
	}
});

test("whatever the umask of the checkout, only root may write to the files of packages", () => {
	const work = mkdtempSync(join(tmpdir(), "assay-modes-"));
	onTestFinished(() => rmSync(work, { recursive: true }));
	const staged = join(work, "staged");
	const put = (folder: string, name: string, mode: number) => {
		mkdirSync(join(staged, folder), { recursive: true });
		writeFileSync(join(staged, folder, name), name);
		chmodSync(join(staged, folder, name), mode);
	};
	put("usr/bin", "program", 0o775);
	put("usr/lib/assay", "open.js", 0o664);
	put("usr/lib/assay", "closed.js", 0o600);
	chmodSync(join(staged, "usr/lib/assay"), 0o775);
	chmodSync(join(staged, "usr"), 0o700);
	symlinkSync("../lib/assay/open.js", join(staged, "usr/bin/link"));
	const tar = join(work, "files.tar.gz");
	packFolder(staged, "root", tar);
	const name = makeDeb(
		{ staged, work, out: work },
		{
			name: "assay.deb",
			scripts: join(ROOT, "release/debian"),
			control: serviceControl("1.4.0", "x64", 2048),
			compression: ["-Zgzip"],
		},
	);
	const modes = (text: string) =>
		text
			.trim()
			.split("\n")
			.map((line) => {
				const [mode, owner, , , , path] = line.split(/\s+/);
				return `${mode} ${owner} ${path?.replace(/^(?:\.|root)(?=\/)/, "")}`;
			})
			// The mode of a link means nothing, and the root exists already.
			.filter((line) => !line.startsWith("l") && !line.endsWith(" /"))
			.sort();
	const expected = [
		"-rw-r--r-- root/root /usr/lib/assay/closed.js",
		"-rw-r--r-- root/root /usr/lib/assay/open.js",
		"-rwxr-xr-x root/root /usr/bin/program",
		...["", "/bin", "/lib", "/lib/assay"].map(
			(folder) => `drwxr-xr-x root/root /usr${folder}/`,
		),
	].sort();
	const list = (program: string, ...args: string[]) =>
		modes(execFileSync(program, args, { encoding: "utf8" }));
	expect(list("dpkg-deb", "-c", join(work, name))).toEqual(expected);
	expect(list("tar", "-tvzf", tar)).toEqual(expected);
});

test("the deb names its version, its architecture and the libraries of Node", () => {
	const control = serviceControl("1.4.0", "arm64", 2048);
	expect(control).toContain("Version: 1.4.0\nArchitecture: arm64\n");
	expect(control).toContain("Installed-Size: 2\n");
	expect(control).toContain("libatomic1");
});

test("the checksums list every file of a release, also one that was added", () => {
	const folder = mkdtempSync(join(tmpdir(), "assay-checksums-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const listed = () =>
		readFileSync(join(folder, "SHA256SUMS"), "utf8")
			.trim()
			.split("\n")
			.map((line) => line.slice(66));
	writeFileSync(join(folder, "assay_1.4.0_amd64.deb"), "");
	writeChecksums(folder);
	writeFileSync(join(folder, "assay.asc"), "");
	writeFileSync(join(folder, "assay-1.4.0-images.txt"), "");
	writeChecksums(folder);
	expect(listed()).toEqual(["assay-1.4.0-images.txt", "assay_1.4.0_amd64.deb"]);
	// The workflow adds the list of images after the first signature.
	const steps = read(".github/workflows/release.yml").split("- name:");
	const adds = steps.find((step) => step.includes("images.txt"));
	expect(adds).toContain("npm run sign:release");
});

test("assay --version names the commit of a checkout", () => {
	expect(describeVersion()).toMatch(
		new RegExp(`^${VERSION.replaceAll(".", "\\.")}( \\([0-9a-f]{12}\\))?$`),
	);
});

test("the versions of the program and of its chart are the same", () => {
	const chart = parse(read("deploy/helm/assay/Chart.yaml"));
	expect(chart.version).toBe(VERSION);
	expect(chart.appVersion).toBe(VERSION);
});

test.each([
	["release.yml", { push: { tags: ["v*"] } }],
	["agent-packages.yml", { workflow_run: { workflows: ["Release"] } }],
])("the workflow %s calls scripts that exist, and no action that could change", (name, on) => {
	const text = read(`.github/workflows/${name}`);
	const { scripts } = readJson("package.json");
	const called = [...text.matchAll(/npm run (?:--silent )?([a-z:]+)/g)];
	expect(called.length).toBeGreaterThan(0);
	for (const [, script] of called) {
		expect(scripts).toHaveProperty(script as string);
	}
	// An action that is named by a tag may become another program.
	expect(text.match(/uses:.*@(?![0-9a-f]{40}\b)/g)).toBeNull();
	expect(parse(text).on).toMatchObject(on);
});

test("the documents of an installation link only to files that it contains", () => {
	const tree = mkdtempSync(join(tmpdir(), "assay-tree-"));
	onTestFinished(() => rmSync(tree, { recursive: true }));
	// A checkout has no build of the console, and no document links to it.
	copyParts(
		ROOT,
		tree,
		PARTS.filter((part) => part !== "console/dist"),
	);
	const dead = () => markdownFiles(tree).flatMap(deadLinks);
	expect(dead()).toContain("CONTRIBUTING.md");
	removeDeadLinks(tree);
	expect(dead()).toEqual([]);
	const page = readFileSync(join(tree, "docs/deploying.md"), "utf8");
	expect(page).toContain("](../deploy/assay.service)");
	expect(page).toContain("](backup.md");
});
