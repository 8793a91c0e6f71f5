import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const INCLUDED =
	"systemd,systemd-sysv,dbus,ca-certificates,iproute2,apt,nftables,python3";

/** A Debian 12 with systemd in a container, which shares the network of this machine. */
export interface Machine {
	root: string;
	/** Runs a shell command in the machine and returns what it prints. Throws if it fails. */
	run(command: string): string;
	stop(): Promise<void>;
}

/**
 * Boots a Debian in `root`, which is made from `image`, or from Debian's mirror if there is none.
 */
export async function bootDebian(
	root: string,
	image: string,
): Promise<Machine> {
	if (!existsSync(image)) {
		const options = ["--variant=minbase", `--include=${INCLUDED}`];
		execFileSync("mmdebstrap", [...options, "bookworm", image], {
			stdio: "inherit",
		});
	}
	execFileSync("mkdir", ["-p", root]);
	execFileSync("tar", ["-xf", image, "-C", root]);
	const child = spawn(
		"systemd-nspawn",
		[
			"--quiet",
			"--boot",
			"--register=no",
			"--keep-unit",
			"--link-journal=no",
			"-D",
			root,
		],
		{ stdio: "ignore" },
	);
	const leader = () =>
		readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
			.trim()
			.split(" ")[0];
	const run = (command: string) =>
		execFileSync(
			"nsenter",
			["--target", leader() ?? "", "--all", "--", "/bin/sh", "-c", command],
			{
				encoding: "utf8",
				stdio: ["ignore", "pipe", "pipe"],
				env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" },
			},
		);
	const stop = async () => {
		const ended = new Promise((resolve) => child.once("exit", resolve));
		if (child.exitCode !== null) return;
		child.kill("SIGTERM");
		await Promise.race([ended, sleep(20_000)]);
		child.kill("SIGKILL");
	};
	try {
		await until("the machine has started", () =>
			/running|degraded/.test(run("systemctl is-system-running || true")),
		);
	} catch (error) {
		await stop();
		throw error;
	}
	return { root, run, stop };
}

/** Waits until `condition` holds. Throws after two minutes. */
export async function until(
	what: string,
	condition: () => boolean | Promise<boolean>,
): Promise<void> {
	let last: unknown;
	for (let tries = 0; tries < 240; tries++) {
		try {
			if (await condition()) return console.log(`ok  ${what}`);
		} catch (error) {
			last = error;
		}
		await sleep(500);
	}
	throw new Error(`not seen within two minutes: ${what}`, { cause: last });
}

/** Makes a file in the machine. */
export const inMachine = (machine: Machine, path: string) =>
	join(machine.root, path);
