import { execFileSync, spawn } from "node:child_process";
import {
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled } from "./real-runs.ts";
import type { Row } from "./verdicts.ts";

// Runs the agent's program in a virtual machine: a Debian with systemd and AppArmor, whose root
// file system is on LUKS. The kernel is the one that is installed here, because not every machine's
// running kernel has LUKS. Nothing in the guest has a network.

const ROOT = join(import.meta.dirname, "../..");
const TIMEOUT_MS = 14 * 60_000;
const PACKAGES =
	"systemd,systemd-sysv,udev,dbus,apparmor,cryptsetup-bin,openssh-server,unattended-upgrades,systemd-timesyncd,nftables,iproute2,kmod,libatomic1,libpam-pwquality";
const PROGRAMS = ["mmdebstrap", "qemu-system-x86_64", "cpio", "depmod"];

/** The parts of the kernel's modules that the guest needs. */
const MODULES = [
	...["arch/x86/crypto", "crypto", "drivers/block", "drivers/md"],
	...["drivers/virtio", "fs/ext4", "fs/jbd2", "fs/mbcache.ko", "lib"],
	...["net/netfilter", "net/ipv4/netfilter", "net/ipv6/netfilter"],
];

/** The verdicts that the guest must have, first badly set up and then in order. */
const EXPECTED: Record<string, [bad: string, good: string]> = {
	DISK_ENCRYPTION: ["FAIL", "PASS"],
	SCREEN_LOCK: ["NOT_APPLICABLE", "NOT_APPLICABLE"],
	FIREWALL_ENABLED: ["FAIL", "PASS"],
	// Without a network, the clock cannot be synchronized.
	TIME_SYNC: ["FAIL", "UNKNOWN"],
	AUTO_UPDATE: ["FAIL", "PASS"],
	PASSWORD_POLICY: ["FAIL", "PASS"],
	REMOTE_LOGIN: ["FAIL", "PASS"],
	MALWARE_PROTECTION: ["FAIL", "PASS"],
};

/** Returns why this machine cannot start the guest, or undefined if it can. */
export function findGuestObstacle(): string | undefined {
	if (process.getuid?.() !== 0) return "the guest needs root to be made";
	const missing = PROGRAMS.filter((program) => !isInstalled(program));
	if (missing.length > 0) return `${missing.join(", ")} not installed`;
	return findKernel() === undefined
		? "no kernel is installed (linux-image-amd64)"
		: undefined;
}

/** Returns the version of the newest kernel that is installed with its modules. */
function findKernel(): string | undefined {
	return listFolder("/boot")
		.filter((name) => name.startsWith("vmlinuz-"))
		.map((name) => name.slice("vmlinuz-".length))
		.filter((version) => listFolder("/lib/modules").includes(version))
		.sort()
		.at(-1);
}

const listFolder = (path: string): string[] => {
	try {
		return readdirSync(path);
	} catch {
		return [];
	}
};

export async function judgeGuest(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "checks-guest-"));
	try {
		const kernel = findKernel() as string;
		const initrd = makeInitrd(folder, kernel);
		const printed = await boot(folder, `/boot/vmlinuz-${kernel}`, initrd);
		return [
			...rowsOf(printed, "a badly set up guest", 0),
			...rowsOf(printed, "a guest in order", 1),
		];
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** Makes a Debian with the agent's program, as one file for the guest's memory. */
function makeInitrd(folder: string, kernel: string): string {
	const say = { stdio: ["ignore", "ignore", "inherit"] as const };
	const run = (program: string, ...args: string[]) =>
		execFileSync(program, args, { ...say, stdio: [...say.stdio] });
	const root = join(folder, "root");
	run(
		"mmdebstrap",
		"--quiet",
		"--variant=minbase",
		`--include=${PACKAGES}`,
		"bookworm",
		root,
	);
	run(
		process.execPath,
		join(ROOT, "agent/build.ts"),
		"--out",
		join(folder, "agent"),
	);
	copyFileSync(
		join(folder, "agent/assay-agent"),
		join(root, "usr/local/bin/assay-agent"),
	);

	const modules = `lib/modules/${kernel}`;
	for (const part of MODULES) {
		const target = join(root, "usr", modules, "kernel", part);
		mkdirSync(join(target, ".."), { recursive: true });
		run("cp", "-a", `/${modules}/kernel/${part}`, target);
	}
	for (const name of [
		"modules.order",
		"modules.builtin",
		"modules.builtin.modinfo",
	]) {
		copyFileSync(`/${modules}/${name}`, join(root, "usr", modules, name));
	}
	run("depmod", "-b", join(root, "usr"), kernel);
	for (const part of [
		"usr/share/doc",
		"usr/share/locale",
		"usr/share/man",
		"var/cache",
	]) {
		rmSync(join(root, part), { recursive: true, force: true });
	}

	const guest = join(import.meta.dirname, "guest");
	copyFileSync(join(guest, "init"), join(root, "init"));
	copyFileSync(join(guest, "judge"), join(root, "usr/local/bin/judge"));
	writeFileSync(
		join(root, "etc/systemd/system/judge.service"),
		"[Unit]\nAfter=multi-user.target\n[Service]\nType=simple\nExecStart=/usr/local/bin/judge\n",
	);
	writeFileSync(
		join(root, "etc/systemd/system/judge.timer"),
		"[Timer]\nOnBootSec=30\n[Install]\nWantedBy=timers.target\n",
	);
	run(
		"systemctl",
		"--root",
		root,
		"--quiet",
		"enable",
		"judge.timer",
		"ssh.service",
	);
	// A login on the console would mix its text with the results.
	run(
		"systemctl",
		"--root",
		root,
		"--quiet",
		"mask",
		"serial-getty@ttyS0.service",
	);
	writeFileSync(
		join(root, "etc/apt/apt.conf.d/20auto-upgrades"),
		'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\n',
	);
	run(
		"cp",
		join(root, "etc/pam.d/common-password"),
		join(root, "etc/pam.d/common-password.good"),
	);
	const initrd = join(folder, "initrd");
	run(
		"sh",
		"-c",
		`cd '${root}' && find . | cpio --quiet -o -H newc > '${initrd}'`,
	);
	return initrd;
}

/** Starts the guest and returns all that it prints until it switches itself off. */
function boot(folder: string, kernel: string, initrd: string): Promise<string> {
	const drives = ["system", "home"].flatMap((name, index) => {
		const file = join(folder, `${name}.img`);
		writeFileSync(file, "");
		truncateSync(file, (index === 0 ? 1536 : 64) * 1024 * 1024);
		return ["-drive", `file=${file},format=raw,if=virtio,cache=unsafe`];
	});
	const child = spawn(
		"qemu-system-x86_64",
		[
			...["-machine", "q35", "-cpu", "max", "-smp", "1", "-m", "2560"],
			...["-display", "none", "-no-reboot", "-nic", "none"],
			...["-kernel", kernel, "-initrd", initrd, "-serial", "stdio"],
			...[
				"-append",
				"console=ttyS0 quiet loglevel=1 systemd.show_status=false panic=-1",
			],
			...drives,
		],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);
	const timer = setTimeout(() => child.kill(), TIMEOUT_MS);
	let printed = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		printed += text;
	});
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", () => {
			clearTimeout(timer);
			resolve(printed);
		});
	});
}

function rowsOf(printed: string, name: string, index: 0 | 1): Row[] {
	const text = printed
		.replaceAll("\r", "")
		.split(`RESULTS OF ${name}\n`)[1]
		?.split("\nEND OF RESULTS")[0];
	const verdicts = new Map<string, string>();
	try {
		for (const { check_key, status } of JSON.parse(text ?? "{}").results) {
			verdicts.set(check_key, status);
		}
	} catch {
		// The rows below then say that there is no result.
	}
	if (verdicts.size === 0) process.stderr.write(`${printed.slice(-2000)}\n`);
	return Object.entries(EXPECTED).map(([check, expected]) => ({
		platform: "LINUX",
		check,
		source: "real",
		name,
		verdict: verdicts.get(check) ?? "no result",
		expected: expected[index],
	}));
}
