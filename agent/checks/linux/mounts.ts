import type { Host } from "../../host.ts";
import { readText } from "./read-text.ts";

export interface Mount {
	source: string;
	target: string;
	/** The type of the file system, such as `ext4`. */
	type: string;
}

/**
 * Returns the current mounts, only the topmost one at each mount point. Returns undefined if they
 * cannot be read.
 */
export async function readMounts(host: Host): Promise<Mount[] | undefined> {
	const text = await readText(host, "/proc/self/mounts");
	if (text === undefined) return undefined;
	const mounts = new Map<string, Mount>();
	for (const line of text.split("\n")) {
		const [source, target, type] = line.split(" ");
		if (!source || !target?.startsWith("/") || !type) continue;
		const at = unescaped(target);
		mounts.set(at, { source: unescaped(source), target: at, type });
	}
	return mounts.has("/") ? [...mounts.values()] : undefined;
}

/** Reverses the kernel's escapes, which write blanks as `\040` and backslashes as `\134`. */
const unescaped = (text: string) =>
	text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
		String.fromCharCode(Number.parseInt(digits, 8)),
	);
