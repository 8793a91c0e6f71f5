import type { Host } from "../../host.ts";
import { readText } from "./read-text.ts";

export interface Mount {
	source: string;
	target: string;
	/** The file system, such as `ext4`. */
	type: string;
}

/** Returns the present mounts, the topmost at each place, or undefined if they cannot be read. */
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

/** Undoes the kernel's escapes: blanks and backslashes are `\040` and `\134`. */
const unescaped = (text: string) =>
	text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
		String.fromCharCode(Number.parseInt(digits, 8)),
	);
