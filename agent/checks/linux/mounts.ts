import type { Host } from "../../host.ts";
import { readText } from "./read-text.ts";

export interface Mount {
	source: string;
	target: string;
	/** The file system, such as `ext4`. */
	type: string;
}

/** What is mounted now, the topmost of several at one place; undefined when that cannot be told. */
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

/** The kernel writes blanks and backslashes as `\040` and `\134`. */
const unescaped = (text: string) =>
	text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
		String.fromCharCode(Number.parseInt(digits, 8)),
	);
