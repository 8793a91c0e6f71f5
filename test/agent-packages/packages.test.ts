import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { CONFIG_NAMES, parseConfig } from "../../agent/config-file.ts";
import { debControl, packagedUnit } from "../../agent/packages/build-linux.ts";
import { ACTIONS } from "../../agent/packages/build-windows.ts";
import {
	checksums,
	indexFolder,
	packagesOf,
	withEarlier,
} from "../../agent/packages/repositories.ts";
import { hasTool } from "../../agent/packages/run-tool.ts";
import { MADE_BY_INSTALL } from "../../agent/service/systemd.ts";
import { Checksums } from "../../src/agent-packages/checksums.ts";
import { describeName } from "../../src/agent-packages/package-list.ts";
import { readFolder } from "../../src/agent-packages/read-folder.ts";
import { makeFolder } from "../support/folder.ts";

const SOURCES = join(import.meta.dirname, "../../agent/packages");
const source = (path: string) => readFileSync(join(SOURCES, path), "utf8");

test("the deb names its version, its architecture and the libraries of Node", () => {
	const control = debControl("1.4.0", "arm64", 115_000);
	expect(control).toContain("Version: 1.4.0\nArchitecture: arm64\n");
	expect(control).toContain("libatomic1");
	// Debian 10 has libgcc only under its earlier name.
	expect(control).toContain("libgcc-s1 | libgcc1");
	expect(control.endsWith("\n")).toBe(true);
});

test("the unit of the packages enrolls the device as the config file says", () => {
	expect(packagedUnit()).toContain(
		'ExecStart="/usr/bin/assay-agent" "run" "--dir" "/var/lib/assay-agent" "--config" "/etc/assay-agent/config"',
	);
});

test("the packages replace the unit that the install command makes", () => {
	for (const script of ["debian/postinst", "rpm/assay-agent.spec"]) {
		expect(source(script)).toContain(MADE_BY_INSTALL);
	}
});

test("the packages restart a service that already runs under their name", () => {
	const deb = source("debian/postinst");
	expect(deb).toMatch(/^\s*deb-systemd-invoke restart assay-agent/m);
	const rpm = source("rpm/assay-agent.spec");
	expect(rpm).toContain("systemctl restart assay-agent.service");
	for (const script of [deb, rpm])
		expect(script).not.toMatch(/\bstart\b.*service/);
});

test("the rpm contains the files that are staged for the deb", () => {
	for (const path of ["/usr/bin/assay-agent", "assay-agent.service"]) {
		expect(source("rpm/assay-agent.spec")).toContain(path);
	}
});

test("the example of a config file is valid once its comments are removed", () => {
	const text = source("config.example").replaceAll(/^#(?=[A-Z]+=)/gm, "");
	const names = text.match(/^[A-Z]+(?==)/gm);
	expect(names).toEqual([...CONFIG_NAMES]);
	expect(parseConfig(text, "config")).toMatchObject({
		serverUrl: "https://assay.example.com",
	});
});

test("the msi passes every property to the agent, and hides the command line that contains them", () => {
	const configure = ACTIONS.find(({ name }) => name === "Configure");
	for (const name of CONFIG_NAMES) {
		expect(configure?.command).toContain(`"[${name}]"`);
	}
	expect((configure?.type ?? 0) & 8192).toBe(8192);
	const wxs = source("windows/assay-agent.wxs");
	expect(wxs).toMatch(/MsiHiddenProperties" Value="KEYFILE;OWNEREMAIL/);
});

test("the msi stops the agent before files are replaced, and starts it when all are there", () => {
	const at = Object.fromEntries(
		ACTIONS.map(({ name, sequence }) => [name, sequence]),
	);
	// InstallInitialize has 1500, RemoveFiles 3500, PublishProduct 6400 and InstallFinalize 6600.
	expect(at.StopTask).toBeGreaterThan(1500);
	expect(at.Uninstall).toBeGreaterThan(at.StopTask as number);
	expect(at.Uninstall).toBeLessThan(3500);
	expect(at.Configure).toBeGreaterThan(6400);
	expect(at.Configure).toBeLessThan(6600);
});

test.each([
	["assay-agent_1.4.0_amd64.deb", "LINUX", "x64", "deb"],
	["assay-agent_1.4.0_arm64.deb", "LINUX", "arm64", "deb"],
	["assay-agent-1.4.0-1.aarch64.rpm", "LINUX", "arm64", "rpm"],
	["assay-agent-1.4.0-x64.msi", "WINDOWS", "x64", "msi"],
	["assay-agent-1.4.0-linux-x64.tar.gz", "LINUX", "x64", "tar.gz"],
	["assay-agent-1.4.0-arm64.pkg", "DARWIN", "arm64", "pkg"],
	["assay-agent-1.4.0-darwin-arm64.tar.gz", "DARWIN", "arm64", "tar.gz"],
])("%s is a package for %s on %s", (file, platform, architecture, format) => {
	expect(describeName(file)).toEqual({ platform, architecture, format });
});

test("--keep finds the other packages of the same version, and nothing else", async () => {
	const folder = await makeFolder("assay-kept-");
	const kept = ["assay-agent-1.4.0-arm64.pkg", "assay-agent-1.4.0-x64.msi"];
	const others = [
		"assay-agent-1.4.1-x64.msi",
		"assay-agent-11.4.0-x64.msi",
		"assay-agent.asc",
		"SHA256SUMS",
	];
	const made = "assay-agent_1.4.0_amd64.deb";
	for (const name of [...kept, ...others, made]) {
		writeFileSync(join(folder, name), "");
	}
	expect(packagesOf(folder, "1.4.0", [made]).sort()).toEqual(kept);
});

test("SHA256SUMS names the packages of this build and earlier ones, and no other file", async () => {
	const folder = await makeFolder("assay-earlier-");
	const earlier = "assay-agent-1.3.0-x64.msi";
	for (const name of [earlier, "Packages.gz", "assay-agent.asc", "key.pem"]) {
		writeFileSync(join(folder, name), "");
	}
	const made = "assay-agent_1.4.0_amd64.deb";
	expect(withEarlier(folder, [made])).toEqual([made, earlier]);
});

test.skipIf(!hasTool("apt-ftparchive") || !hasTool("createrepo_c"))(
	"a folder that build:packages indexed is offered whole, also an earlier package in it",
	async () => {
		const folder = await makeFolder("assay-indexed-");
		const made = "assay-agent-1.4.0-linux-x64.tar.gz";
		const earlier = "assay-agent-1.3.0-x64.msi";
		writeFileSync(join(folder, made), "the program");
		writeFileSync(join(folder, earlier), "an earlier package");
		indexFolder(folder, "1.4.0", [made], undefined);
		const { files, newest, withheld } = await readFolder(
			folder,
			new Checksums(),
		);
		expect(withheld).toEqual([]);
		const all = readdirSync(folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map((entry) => relative(folder, join(entry.parentPath, entry.name)));
		expect([...files.keys()].sort()).toEqual(all.sort());
		expect(newest).toEqual({ LINUX: "1.4.0", WINDOWS: "1.3.0" });
	},
);

test("SHA256SUMS has the format of sha256sum", async () => {
	const folder = await makeFolder("assay-sums-");
	writeFileSync(join(folder, "b.deb"), "b");
	writeFileSync(join(folder, "a.deb"), "");
	expect(checksums(folder, ["b.deb", "a.deb"])).toBe(
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.deb\n" +
			"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b.deb\n",
	);
});
