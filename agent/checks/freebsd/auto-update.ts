import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";

const TABLES = ["/etc/crontab", "/var/cron/tabs/root"];
const TABLE_FOLDERS = ["/etc/cron.d", "/usr/local/etc/cron.d"];

/**
 * Checks if cron updates the system, because FreeBSD installs no updates by itself. Returns PASS if
 * cron runs `freebsd-update … install`, or `pkg upgrade -y` if the base system consists of packages
 * (an option since FreeBSD 15). Returns FAIL if cron only runs `freebsd-update cron`, which
 * downloads updates and sends root a mail. Returns UNKNOWN if cron runs none of these, because
 * other programs may update the system from outside.
 */
export async function checkAutoUpdate(host: Host): Promise<CheckOutcome> {
	const { commands, unread } = await readScheduledCommands(host);
	const single = commands.flatMap((command) => command.split(/[;&|]/));
	const does = (...patterns: RegExp[]) =>
		single.some((command) => matchesInOrder(command, patterns));
	const packages = does(
		/\bpkg(?:-static)?\b/,
		/\supgrade\b/,
		/\s(-[a-zA-Z]*y|--yes)/,
	);
	const evidence = { packages };
	if (does(/\bfreebsd-update\b/, /\sinstall\b/))
		return pass({ mechanism: "freebsd-update", ...evidence });
	if (packages && (await isBasePackaged(host)))
		return pass({ mechanism: "pkgbase", ...evidence });
	if (unread) {
		return unknown(
			host.isPrivileged ? "file_unreadable" : "needs_root",
			evidence,
		);
	}
	if (does(/\bfreebsd-update\b/, /\s(cron|fetch)\b/)) {
		return fail({
			mechanism: "freebsd-update",
			download_only: true,
			...evidence,
		});
	}
	return unknown("no_schedule_found", evidence);
}

/**
 * Returns true if the command matches all patterns, each one after the match of the previous one.
 */
function matchesInOrder(command: string, patterns: RegExp[]): boolean {
	let rest = command;
	for (const pattern of patterns) {
		const found = pattern.exec(rest);
		if (!found) return false;
		rest = rest.slice(found.index + found[0].length);
	}
	return true;
}

async function readScheduledCommands(
	host: Host,
): Promise<{ commands: string[]; unread: boolean }> {
	const paths = [...TABLES];
	let unread = false;
	for (const folder of TABLE_FOLDERS) {
		const listed = await host.listFolder(folder);
		if (listed.kind === "names")
			paths.push(...listed.names.map((name) => `${folder}/${name}`));
		else unread ||= listed.kind !== "missing";
	}
	const commands: string[] = [];
	for (const path of paths) {
		const file = await host.readFile(path);
		if (file.kind === "text")
			commands.push(...file.text.split("\n").flatMap(commandOf));
		else unread ||= file.kind !== "missing";
	}
	return { commands, unread };
}

/**
 * Returns the command of a crontab line. The command follows the five time fields or a word such as
 * `@daily`. Comments and variables are not commands.
 */
function commandOf(line: string): string[] {
	if (line.length < 3 || line.length > 4096) return [];
	const [, command] =
		/^[ \t]*(?:@[a-z_0-9]+|(?:[\d*][\d*,/~-]*[ \t]+){2}(?:[\w*][\w*,/~-]*[ \t]+){2}[\w*][\w*,/~-]*)[ \t]+(\S.*)/.exec(
			line,
		) ?? [];
	return command === undefined ? [] : [command];
}

async function isBasePackaged(host: Host): Promise<boolean> {
	const result = await host.run("pkg", ["info", "-e", "FreeBSD-runtime"]);
	return result.ended === "exited" && result.exitCode === 0;
}
