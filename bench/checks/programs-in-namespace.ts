import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkRemoteLogin } from "../../agent/checks/linux/remote-login.ts";
import { checkTimeSync } from "../../agent/checks/linux/time-sync.ts";
import { loadChecks, runChecks } from "../../agent/checks/run-checks.ts";
import { ownProgram } from "../../agent/own-program.ts";
import { makeSystemHost } from "../../agent/system-host.ts";

// This program runs in namespaces of its own. It runs the checks about real programs: sshd with
// several settings, chrony without rtcsync, and this machine itself.

const host = makeSystemHost(
	"LINUX",
	ownProgram([]),
	new AbortController().signal,
);
const folder = mkdtempSync(join(tmpdir(), "checks-"));

const print = (
	check: string,
	name: string,
	verdict: string,
	expected: string,
) => console.log(JSON.stringify({ check, name, verdict, expected }));

/** Runs a program until `use` has ended. */
async function whileRuns(
	program: string,
	args: string[],
	use: () => Promise<void>,
): Promise<void> {
	const child: ChildProcess = spawn(program, args, { stdio: "ignore" });
	const ended = new Promise((resolve) => child.once("exit", resolve));
	child.on("error", () => {});
	try {
		await sleep(1000);
		await use();
	} finally {
		child.kill();
		await Promise.race([ended, sleep(5000)]);
	}
}

const SSHD_CONFIG = "/etc/ssh/sshd_config";

async function judgeSshd(): Promise<void> {
	const key = join(folder, "host_key");
	execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
	execFileSync("mkdir", ["-p", "/run/sshd"]);
	for (const [name, settings, expected] of [
		["sshd that takes passwords", "PasswordAuthentication yes", "FAIL"],
		[
			"sshd that takes keys only",
			"PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password",
			"PASS",
		],
		[
			"sshd with prompts of PAM",
			"PasswordAuthentication no\nKbdInteractiveAuthentication yes\nUsePAM yes",
			"FAIL",
		],
	] as const) {
		const config = join(folder, "sshd_config");
		writeFileSync(config, `HostKey ${key}\nPort 22\n${settings}\n`);
		execFileSync("mount", ["--bind", config, SSHD_CONFIG]);
		await whileRuns("/usr/sbin/sshd", ["-D", "-f", SSHD_CONFIG], async () => {
			const { status } = await checkRemoteLogin(host);
			print("REMOTE_LOGIN", name, status, expected);
		});
		execFileSync("umount", [SSHD_CONFIG]);
	}
}

async function judgeChrony(): Promise<void> {
	const config = join(folder, "chrony.conf");
	writeFileSync(config, `local stratum 8\npidfile ${folder}/chronyd.pid\n`);
	await whileRuns("chronyd", ["-n", "-x", "-f", config], async () => {
		const { status, evidence } = await checkTimeSync(host);
		const isElsewhere = evidence.reason === "container";
		print(
			"TIME_SYNC",
			"chrony without rtcsync",
			status,
			isElsewhere ? "NOT_APPLICABLE" : "PASS",
		);
	});
}

execFileSync("ip", ["link", "set", "lo", "up"]);
for (const result of await runChecks(await loadChecks("LINUX"), host)) {
	print(result.check_key, "this machine as it is", result.status, "any");
}
try {
	await judgeSshd();
	await judgeChrony();
} finally {
	rmSync(folder, { recursive: true });
}
