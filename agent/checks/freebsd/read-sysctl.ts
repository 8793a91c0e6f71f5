import type { Host } from "../../host.ts";
import { runForText } from "../run-for-text.ts";

/**
 * Returns the value of a kernel variable, or undefined if this kernel does not have the variable.
 */
export async function readSysctl(
	host: Host,
	name: string,
): Promise<string | undefined> {
	const text = (await runForText(host, "sysctl", ["-n", name]))?.trim();
	return text === undefined || text.length > 1000 ? undefined : text;
}
