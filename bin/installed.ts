import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseEnvironmentFile } from "../src/config/environment-file.ts";
import {
	compareAuthorities,
	FOUND_AUTHORITIES,
	findHiddenAuthorities,
} from "../src/config/shell-authorities.ts";

/**
 * The command `assay` of an installation. It has the settings of the service, which systemd reads
 * from the same file, and works as the user of the service, so that no file ends up with another
 * owner. Without that file it does the same as `bin/assay.js`.
 */
const SETTINGS_FILE = "/etc/assay.env";
const DATA_DIR = "/var/lib/assay";
const USER = "assay";
/** Folder of the compiled code. Only the service's user can write to it. The units name it too. */
const COMPILE_CACHE = "/var/cache/assay";

interface Groups {
	/** Takes on all groups of a user. */
	initgroups(user: string, extraGroup: string): void;
}

/** These need no settings: the agent belongs to the device, and the others only print. */
const WITHOUT_SETTINGS = new Set(["agent", "--version", "-V", "--help", "-h"]);

const [command] = process.argv.slice(2);
const text = WITHOUT_SETTINGS.has(command ?? "") ? undefined : readSettings();
if (text !== undefined) {
	const settings = {
		NODE_ENV: "production",
		ASSAY_DATA_DIR: DATA_DIR,
		NODE_COMPILE_CACHE: COMPILE_CACHE,
		...parseEnvironmentFile(text),
	};
	const authorities =
		compareAuthorities(process.env, settings, SETTINGS_FILE) ??
		findHiddenAuthorities(settings);
	if (authorities && command === "doctor") {
		process.env[FOUND_AUTHORITIES] = JSON.stringify(authorities);
	} else if (authorities) {
		const { found, advice } = authorities;
		process.stderr.write(`assay: ${found}; ${advice}\n`);
	}
	for (const [name, value] of Object.entries(settings)) {
		// A variable that the caller sets for one command takes precedence.
		process.env[name] ??= value;
	}
	if (process.getuid?.() === 0) {
		if (process.env.ASSAY_DATA_DIR === DATA_DIR) makeDataFolder();
		if (command === "doctor")
			process.env.SERVICE_LOG_LINES = readLastLogLines();
		becomeServiceUser();
	}
}
// The cache would otherwise be among the files of the package, and a removal would leave it behind.
if (text === undefined) process.env.NODE_DISABLE_COMPILE_CACHE ??= "1";
const program = fileURLToPath(new URL("assay.js", import.meta.url));
// Node reads its own settings, such as NODE_EXTRA_CA_CERTS, only when it starts. It therefore starts
// again, in the same process.
process.execve?.(process.execPath, [
	process.execPath,
	program,
	...process.argv.slice(2),
]);

function readSettings(): string | undefined {
	try {
		return readFileSync(SETTINGS_FILE, "utf8");
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return undefined;
		process.stderr.write(
			`assay: only root and the user ${USER} can read the settings in ${SETTINGS_FILE} (${code}); use sudo\n`,
		);
		process.exit(1);
	}
}

/** Makes the data folder again if somebody moved it away, because only root can do that. */
function makeDataFolder(): void {
	if (existsSync(DATA_DIR)) return;
	const mode = ["-d", "-m", "0700", "-o", USER, "-g", USER];
	execFileSync("install", [...mode, DATA_DIR], { stdio: "inherit" });
}

/** Returns the last lines that the service wrote to the journal, which only root can read. */
function readLastLogLines(): string {
	const wanted = ["_SYSTEMD_UNIT=assay.service", "--lines=30", "--output=cat"];
	const { stdout } = spawnSync("journalctl", ["--quiet", ...wanted], {
		encoding: "utf8",
	});
	return stdout ?? "";
}

function becomeServiceUser(): void {
	try {
		// Node's types lack this function.
		(process as unknown as Groups).initgroups(USER, USER);
		process.setgid?.(USER);
		process.setuid?.(USER);
	} catch (error) {
		process.stderr.write(
			`assay: cannot become the user ${USER}, which owns the data of the service: ${(error as Error).message}\n`,
		);
		process.exit(1);
	}
	process.umask(0o077);
	Object.assign(process.env, { HOME: DATA_DIR, USER, LOGNAME: USER });
}
