import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { parseLines } from "./lines.ts";
import type { Row } from "./verdicts.ts";

// Runs the checks about real programs, in namespaces of their own.

interface RealRun {
	/** The programs or rules that are judged, in words. */
	name: string;
	/** A program of this folder. It prints rows without their platform and source. */
	file: string;
	check: string;
	/** The programs without which it cannot run. */
	needs: string[];
}

const RUNS: RealRun[] = [
	{
		name: "rules of nft and iptables",
		file: "firewall-in-namespace.ts",
		check: "FIREWALL_ENABLED",
		needs: ["ip", "nft", "iptables", "ip6tables"],
	},
	{
		name: "zones of firewalld",
		file: "firewalld-in-namespace.ts",
		check: "FIREWALL_ENABLED",
		needs: ["ip", "nft", "dbus-daemon", "firewalld", "firewall-cmd"],
	},
	{
		name: "sshd",
		file: "sshd-in-namespace.ts",
		check: "REMOTE_LOGIN",
		needs: ["ip", "sshd", "ssh-keygen"],
	},
	{
		name: "chrony",
		file: "chrony-in-namespace.ts",
		check: "TIME_SYNC",
		needs: ["chronyd", "chronyc"],
	},
	{
		name: "this machine as it is",
		file: "machine-in-namespace.ts",
		check: "all",
		needs: ["ip"],
	},
];

const NAMESPACES = ["--net", "--mount", "--pid", "--fork", "--mount-proc"];

/** The real runs of this machine. `skipped` says which ones it could not do, and why. */
export interface RealVerdicts {
	rows: Row[];
	skipped: Row[];
	/** The programs of this folder that failed. */
	broken: string[];
}

export function judgeRealPrograms(): RealVerdicts {
	const verdicts: RealVerdicts = { rows: [], skipped: [], broken: [] };
	const obstacle = findObstacle();
	for (const run of RUNS) {
		const missing = run.needs.filter((program) => !isInstalled(program));
		const reason =
			obstacle ??
			(missing.length > 0
				? `${missing.join(", ")} ${missing.length > 1 ? "are" : "is"} not installed`
				: undefined);
		if (reason !== undefined) {
			verdicts.skipped.push(skippedRow(run, reason));
			continue;
		}
		try {
			verdicts.rows.push(...runIsolated(run.file));
		} catch {
			verdicts.broken.push(run.file);
		}
	}
	return verdicts;
}

/** Returns why this machine can do no real run at all, or undefined if it can. */
function findObstacle(): string | undefined {
	if (process.platform !== "linux" || process.getuid?.() !== 0) {
		return "real runs need Linux and root";
	}
	if (!isInstalled("unshare")) return "unshare is not installed";
	const { status } = spawnSync("unshare", [...NAMESPACES, "true"]);
	return status === 0 ? undefined : "this machine permits no namespaces";
}

export function isInstalled(program: string): boolean {
	const folders = [
		...(process.env.PATH ?? "").split(delimiter),
		"/usr/sbin",
		"/sbin",
	];
	return folders.some((folder) => {
		try {
			accessSync(join(folder, program), constants.X_OK);
			return true;
		} catch {
			return false;
		}
	});
}

function runIsolated(file: string): Row[] {
	const text = execFileSync(
		"unshare",
		[...NAMESPACES, process.execPath, join(import.meta.dirname, file)],
		{ encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
	);
	return parseLines<Omit<Row, "platform" | "source">>(text).map((row) => ({
		platform: "LINUX",
		source: "real",
		...row,
	}));
}

const skippedRow = ({ name, check }: RealRun, reason: string): Row => ({
	platform: "LINUX",
	check,
	source: "real",
	name: `${name}: ${reason}`,
	verdict: "not run",
	expected: "any",
});
