import { execFileSync, spawnSync } from "node:child_process";

/** The programs that build packages, with the package of Debian, or of crates.io, that contains each. */
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
	rcodesign: "apple-codesign",
} as const;

export type Tool = keyof typeof TOOLS;

const FROM_DEBIAN = "apt-get install --no-install-recommends";
const FROM_CRATES = "cargo install --no-default-features";

export const hasTool = (tool: Tool) =>
	spawnSync(tool, ["--version"]).error === undefined;

/** Throws an error that says what to install if one of the tools is missing. */
export function requireTools(tools: readonly Tool[]): void {
	const missing = tools.filter((tool) => !hasTool(tool));
	if (missing.length === 0) return;
	const sources = Map.groupBy(missing, (tool) =>
		tool === "rcodesign" ? FROM_CRATES : FROM_DEBIAN,
	);
	const commands = [...sources].map(
		([command, from]) =>
			`${command} ${[...new Set(from.map((tool) => TOOLS[tool]))].join(" ")}`,
	);
	throw new Error(
		`${missing.join(", ")} missing; on Debian, run: ${commands.join("; ")}`,
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
