import { writeFileSync } from "node:fs";
import { checkRemoteLogin } from "../../agent/checks/linux/remote-login.ts";
import { host, print, run, whileRuns } from "./in-namespace.ts";

// This program runs in namespaces of its own. It judges a real sshd with several settings.

const CASES = [
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
] as const;

const CONFIG = "/etc/ssh/sshd_config";
const KEY = "/etc/ssh/host_key";

run("ip", ["link", "set", "lo", "up"]);
// The machine's own settings stay as they are, also if it has none.
run("mkdir", ["-p", "/etc/ssh", "/run/sshd"]);
run("mount", ["-t", "tmpfs", "tmpfs", "/etc/ssh"]);
run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", KEY]);
for (const [name, settings, expected] of CASES) {
	writeFileSync(CONFIG, `HostKey ${KEY}\nPort 22\n${settings}\n`);
	await whileRuns("/usr/sbin/sshd", ["-D", "-f", CONFIG], async () => {
		const { status } = await checkRemoteLogin(host);
		print("REMOTE_LOGIN", name, status, expected);
	});
}
