import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { Command } from "commander";
import { ARCHITECTURES } from "../../agent/packages/deb-and-rpm.ts";
import {
	bootDebian,
	inMachine,
	type Machine,
	until,
} from "../agent-packages/machine.ts";
import { ENVIRONMENT_SAMPLES } from "./environment-samples.ts";
import { ARCHITECTURE, makeFiles, only, versionIn } from "./release-files.ts";

/**
 * `npm run verify:release` proves the files of a release on a real Debian 12 with systemd: the deb
 * is installed, used, backed up, upgraded and removed, the rpm is installed, upgraded and removed,
 * and the tarball runs without npm. It needs root, Debian, mmdebstrap, systemd-container and what
 * `npm run release` needs.
 */
const options = new Command("verify:release")
	.option("--first <folder>", "files of a version, instead of making 0.1.1")
	.option("--second <folder>", "files of a newer one, instead of making 0.1.2")
	.option("--image <file>", "tar of the Debian, made if it does not exist")
	.parse()
	.opts<{ first?: string; second?: string; image?: string }>();

/** The network of the machine is that of this one, so the port is an unusual one. */
const PORT = 7801;
const READY = `http://127.0.0.1:${PORT}/health/ready`;
const MAX_AWAY_MS = 10_000;
const work = mkdtempSync(join(tmpdir(), "assay-verify-release-"));

const first = options.first ?? makeFiles("0.1.1", work);
const second = options.second ?? makeFiles("0.1.2", work);
const FIRST = versionIn(first);
const SECOND = versionIn(second);
let machine: Machine | undefined;
try {
	for (const folder of [first, second]) {
		execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], {
			cwd: folder,
		});
	}
	const image = options.image ?? join(work, "debian.tar");
	machine = await bootDebian(join(work, "machine"), image);
	await verify(machine);
	console.log("The release works: installed, upgraded, removed, unpacked.");
} catch (error) {
	const { stdout, stderr } = error as { stdout?: string; stderr?: string };
	console.error(error, stdout, stderr);
	if (machine) console.error(readLog(machine));
	process.exitCode = 1;
} finally {
	await machine?.stop();
	rmSync(work, { recursive: true, force: true });
}

async function verify(machine: Machine): Promise<void> {
	const { run } = machine;
	const end = `_${ARCHITECTURES[ARCHITECTURE].deb}.deb`;
	cpSync(only(first, end), inMachine(machine, "/root/first.deb"));
	cpSync(only(second, end), inMachine(machine, "/root/second.deb"));
	const next = run("apt-get update -q && apt-get install -qy /root/first.deb");
	if (!next.includes("systemctl enable --now assay")) throw new Error(next);
	await until("the packaged command has its version and commit", () => {
		const [version, commit] = run("assay --version").trim().split(" ");
		return version === FIRST && /^\([0-9a-f]{12}\)$/.test(commit ?? "");
	});
	checkModes(machine);
	run("command -v npm && exit 1; command -v node && exit 1; true");
	console.log("ok  the machine has neither npm nor a Node of its own");

	for (const [text, value] of ENVIRONMENT_SAMPLES) {
		writeFileSync(inMachine(machine, "/root/sample.env"), text);
		const read = run(
			"systemd-run --quiet --pipe --wait -p EnvironmentFile=/root/sample.env printenv A",
		);
		if (read !== `${value}\n`) {
			throw new Error(`systemd reads ${JSON.stringify([text, read])}`);
		}
	}
	console.log(
		"ok  systemd reads settings files as the tests of the command expect",
	);

	writeSettings(machine);
	run(`cp -p /etc/assay.env /root/right.env
		echo ASSAY_LOG_LEVEL=loud >> /etc/assay.env`);
	const refused = run("systemctl start assay 2>&1 && echo started; true");
	if (refused.includes("started")) throw new Error(refused);
	const why = run("systemctl show assay; journalctl -u assay -o cat");
	for (const part of [
		...["NRestarts=0\n", "ExecMainStatus=78\n", "ActiveState=failed\n"],
		"ASSAY_LOG_LEVEL must be one of",
	]) {
		if (!why.includes(part)) throw new Error(`${part} is not in ${why}`);
	}
	console.log("ok  a start with a wrong setting fails, and is not repeated");
	const again = run("apt-get install -qy --reinstall /root/first.deb 2>&1");
	if (!again.includes("Assay has failed before")) throw new Error(again);
	console.log("ok  an installation says that the service stays failed");
	run("mv /root/right.env /etc/assay.env && systemctl reset-failed assay");
	// This command comes before the first start of the service.
	const made = JSON.parse(run("assay org create --name Acme --json"));
	const organizationId = made.organization_id;
	await verifyDoctor(machine);
	run("systemctl enable --now assay assay-backup.timer");
	if (!(await isReady())) throw new Error("systemd did not wait");
	console.log("ok  systemd waits until the service is ready");
	const setup = run("assay setup-link");
	if (!setup.includes(`http://127.0.0.1:${PORT}/`)) throw new Error(setup);
	run(
		`assay user create --email ada@example.com --name Ada --role admin --org ${organizationId}`,
	);
	await until("commands work as the user of the service", () => {
		const owners = run(
			`find /var/lib/assay -not -user assay -print -quit
			for process in /proc/[0-9]*; do
				if grep -qs postgres $process/comm; then stat -c %U $process; fi
			done | sort -u`,
		);
		return owners.trim() === "assay";
	});
	await until("commands start Node with the settings of the service", () =>
		run(
			`cp -p /etc/assay.env /root/before.env
			echo NODE_EXTRA_CA_CERTS=/no.pem >> /etc/assay.env
			ASSAY_BASE_URL=https://127.0.0.1:${PORT} assay doctor 2>&1
			mv /root/before.env /etc/assay.env`,
		).includes("/no.pem"),
	);
	run("systemctl reload assay");
	run("systemctl start assay-backup");
	await until("the nightly unit makes a backup", () =>
		run("ls /var/lib/assay-backups").includes(".backup"),
	);
	run("assay doctor || true");

	// Nobody can delete a folder on which something is mounted, or a file that is written just now.
	run(`mkdir /root/empty /var/cache/assay/busy
		mount --bind /root/empty /var/cache/assay/busy`);
	const upgrade = await measure(
		machine,
		"the upgrade of the deb",
		"apt-get install -qy /root/second.deb",
		SECOND,
	);
	run("umount /var/cache/assay/busy");
	if (!upgrade.includes("Restarting Assay.")) throw new Error(upgrade);
	await until("a cache in use does not stop the upgrade", () =>
		run("dpkg --status assay").includes("Status: install ok installed"),
	);
	await until("the organization is still there", () =>
		run("assay org list").includes("Acme"),
	);
	await rollBack(machine);
	const failed = run("systemctl list-units --failed --no-legend 'assay*'");
	if (failed.trim() !== "") throw new Error(failed);

	run("apt-get install -qy /root/second.deb");
	run("apt-get remove -qy assay");
	await until("removal stops the service", async () => !(await isReady()));
	const left = run(
		"find /usr/bin /usr/lib /var/lib /var/cache /etc -maxdepth 1 -name 'assay*' | sort",
	);
	const kept = ["/etc/assay.env", "/var/lib/assay", "/var/lib/assay-backups"];
	if (left.trim() !== kept.join("\n")) throw new Error(left);
	console.log("ok  removal keeps settings, data and backups, and no more");
	const stopped = run("apt-get install -qy /root/second.deb 2>&1");
	if (!stopped.includes("does not start with the machine")) {
		throw new Error(stopped);
	}
	run("systemctl start assay");
	await until("installed again, the service has its data", async () => {
		return (await isReady()) && run("assay org list").includes("Acme");
	});
	run("mkdir /etc/assay");
	const purge = run("apt-get purge -qy assay");
	if (!purge.includes("Kept: /etc/assay.env, /etc/assay, /var/lib/assay")) {
		throw new Error(purge);
	}
	run("rm -rf /var/lib/assay* /etc/assay*");
	await verifyRpm(machine);
	await verifyTarball(machine);
}

/** Throws if anybody but root may change a file of the package. */
function checkModes({ run }: Machine): void {
	const units = "/usr/lib/systemd/system/assay*";
	const odd = run(
		`find /usr/lib/assay /usr/bin/assay ${units} -not -type l \\( -perm /022 -o -not -user root -o -not -group root \\)`,
	);
	if (odd.trim() !== "") throw new Error(odd);
	const closed = run(
		"find /usr/lib/assay -type f -not -perm 0644 -not -perm 0755",
	);
	if (closed.trim() !== "") throw new Error(closed);
	console.log("ok  the files of the package belong to root, with 0644 or 0755");
}

/** Breaks the service in several ways, and checks that `assay doctor` names each. */
async function verifyDoctor({ run }: Machine): Promise<void> {
	const says = (text: string) =>
		until(`assay doctor says: ${text}`, () =>
			run("assay doctor; true").includes(text),
		);
	await says("somebody has stopped assay.service");
	const other = `python3 -m http.server --bind 127.0.0.1 ${PORT}`;
	run(`systemd-run --quiet --unit=other ${other}`);
	run("systemctl start assay; true");
	await says("another program has the port of the service");
	await says("assay.service has failed: its program ended with 1");
	run("systemctl stop other assay");
	run(`cp -p /etc/assay.env /root/right.env
		echo DATABASE_URL=postgres://assay@127.0.0.1:1/assay >> /etc/assay.env
		systemctl start assay; true`);
	await says(
		"the log says why: Assay could not start: Assay cannot open its database",
	);
	run(`systemctl stop assay; systemctl reset-failed assay
		mv /root/right.env /etc/assay.env`);
}

/**
 * Runs commands while it asks the service all the time, and returns what they print. Throws if the
 * service is away for too long.
 */
async function measure(
	{ run }: Machine,
	what: string,
	commands: string,
	version: string,
): Promise<string> {
	const watcher = new Worker(new URL("watch-readiness.ts", import.meta.url), {
		workerData: READY,
	});
	const printed = run(commands);
	await until(`after ${what}, version ${version} answers`, async () => {
		const runs = run("assay --version").startsWith(`${version} `);
		return (await isReady()) && runs;
	});
	const watched = once(watcher, "message");
	watcher.postMessage("stop");
	const [awayMs] = await watched;
	console.log(`ok  ${what} stopped the service for ${awayMs} ms`);
	if (what.startsWith("the upgrade") && awayMs > MAX_AWAY_MS) {
		throw new Error(`${what} took too long`);
	}
	return printed;
}

/** Goes back from the second version to the first, as docs/deploying.md says. */
async function rollBack(machine: Machine): Promise<void> {
	const { run } = machine;
	run("assay org create --name Later");
	const install = run("apt-get install -qy --allow-downgrades /root/first.deb");
	if (!install.includes(`${SECOND} still runs`)) throw new Error(install);
	if (!install.includes("Both versions have the same tables")) {
		throw new Error(install);
	}
	if (!(await isReady())) throw new Error("the newer version was stopped");
	const backup = "ls -t /var/lib/assay-backups/assay-*.backup | tail -n 1";
	await measure(
		machine,
		"the roll back of the deb",
		`set -e; systemctl stop assay
		assay restore --replace --unknown-keys-wait 2d $(${backup})
		systemctl start assay`,
		FIRST,
	);
	await until("the old version serves the backup from before", () => {
		const organizations = run("assay org list");
		return organizations.includes("Acme") && !organizations.includes("Later");
	});
}

/** The program rpm of Debian runs the scripts as RHEL does, but knows no libraries. */
async function verifyRpm(machine: Machine): Promise<void> {
	const { run } = machine;
	const end = `.${ARCHITECTURES[ARCHITECTURE].rpm}.rpm`;
	cpSync(only(first, end), inMachine(machine, "/root/first.rpm"));
	cpSync(only(second, end), inMachine(machine, "/root/second.rpm"));
	run("apt-get install -qy rpm && rpm --install --nodeps /root/first.rpm");
	writeSettings(machine);
	run("systemctl enable --now assay");
	await until("the rpm serves", isReady);
	run("assay org create --name Acme");
	checkModes(machine);
	run("assay backup /var/lib/assay-backups/before.backup");
	await measure(
		machine,
		"the upgrade of the rpm",
		"rpm --upgrade --nodeps /root/second.rpm",
		SECOND,
	);
	await until("the organization outlives the upgrade of the rpm", () =>
		run("assay org list").includes("Acme"),
	);
	const back = run("rpm --upgrade --oldpackage --nodeps /root/first.rpm");
	if (!back.includes(`${SECOND} still runs`)) throw new Error(back);
	if (!(await isReady())) throw new Error("the newer version was stopped");
	await measure(
		machine,
		"the roll back of the rpm",
		`set -e; systemctl stop assay
		assay restore --replace /var/lib/assay-backups/before.backup
		systemctl start assay`,
		FIRST,
	);
	run("rpm --erase assay");
	await until("removal stops the service", async () => !(await isReady()));
	run("rm -rf /var/lib/assay* /etc/assay.env");
}

function writeSettings(machine: Machine): void {
	writeFileSync(
		inMachine(machine, "/etc/assay.env"),
		`ASSAY_BASE_URL=http://127.0.0.1:${PORT}\nASSAY_PORT=${PORT}\n`,
	);
}

async function verifyTarball(machine: Machine): Promise<void> {
	const { run } = machine;
	const end = `-linux-${ARCHITECTURE}.tar.gz`;
	cpSync(only(second, end), inMachine(machine, "/root/assay.tar.gz"));
	run("mkdir /opt/assay");
	run("tar -xzf /root/assay.tar.gz -C /opt/assay --strip-components=1");
	run("ln -s /opt/assay/assay /usr/local/bin/assay");
	run("/opt/assay/release/prepare-machine");
	run("cp /opt/assay/deploy/assay*.service /etc/systemd/system/");
	run("cp /opt/assay/deploy/assay*.timer /etc/systemd/system/");
	writeSettings(machine);
	run("systemctl daemon-reload && systemctl enable --now assay");
	await until("the unpacked tarball serves under systemd", isReady);
	await until("its command works", () =>
		run("/usr/local/bin/assay org list").includes("No organizations yet"),
	);
	run("systemctl stop assay");
}

async function isReady(): Promise<boolean> {
	return (await fetch(READY).catch(() => undefined))?.ok ?? false;
}

function readLog(machine: Machine): string {
	try {
		return machine.run("journalctl -u 'assay*' -n 60 --no-pager");
	} catch (error) {
		return `no log of the service: ${error}`;
	}
}
