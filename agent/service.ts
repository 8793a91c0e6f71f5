import { existsSync } from "node:fs";
import { ownProgram } from "./own-program.ts";
import type { ServiceManager } from "./service/manager.ts";
import { makeSystemHost, thisPlatform } from "./system-host.ts";

export type {
	ServiceManager,
	ServiceSpec,
	ServiceState,
} from "./service/manager.ts";
export { checkProgram } from "./service/program.ts";

/** Returns the service manager of this machine, or undefined if the agent knows none for it. */
export async function serviceManager(): Promise<ServiceManager | undefined> {
	const platform = thisPlatform();
	if (platform === undefined) return undefined;
	const host = makeSystemHost(
		platform,
		ownProgram([]),
		new AbortController().signal,
	);
	switch (platform) {
		case "LINUX":
			// This folder exists only while systemd runs, and in a container it often does not run.
			return existsSync("/run/systemd/system")
				? (await import("./service/systemd.ts")).systemd(host)
				: undefined;
		case "DARWIN":
			return (await import("./service/launchd.ts")).launchd(host);
		case "WINDOWS":
			return (await import("./service/task-scheduler.ts")).taskScheduler(host);
		case "FREEBSD":
			return (await import("./service/rc-d.ts")).rcD(host);
	}
}
