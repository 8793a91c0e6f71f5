import { execFileSync, spawnSync } from "node:child_process";

/** The programs that build packages, with the Debian package that contains each. */
const TOOLS = {
	"dpkg-deb": "dpkg",
	rpmbuild: "rpm",
	rpmsign: "rpm",
	wixl: "wixl",
	msibuild: "msitools",
	"apt-ftparchive": "apt-utils",
	createrepo_c: "createrepo-c",
	gpg: "gpg",
	tar: "tar",
	git: "git",
	"x86_64-linux-gnu-strip": "binutils-x86-64-linux-gnu",
	"aarch64-linux-gnu-strip": "binutils-aarch64-linux-gnu",
} as const;

export type Tool = keyof typeof TOOLS;

/** Throws an error that says what to install if one of the tools is missing. */
export function requireTools(tools: readonly Tool[]): void {
	const missing = tools.filter(
		(tool) => spawnSync(tool, ["--version"]).error !== undefined,
	);
	if (missing.length === 0) return;
	const packages = [...new Set(missing.map((tool) => TOOLS[tool]))].join(" ");
	throw new Error(
		`${missing.join(", ")} missing; on Debian, run: apt-get install --no-install-recommends ${packages}`,
	);
}

/** Runs a tool and returns what it prints. Throws if it fails. */
export function runTool(
	tool: Tool,
	args: readonly string[],
	cwd?: string,
): string {
	return execFileSync(tool, args, {
		cwd,
		encoding: "utf8",
		maxBuffer: 64 << 20,
		stdio: ["ignore", "pipe", "pipe"],
	});
}
