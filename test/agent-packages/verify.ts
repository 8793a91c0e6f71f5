import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { assay, startAssay } from "../support/program.ts";
import { bootDebian, inMachine, type Machine, until } from "./machine.ts";

/**
 * `npm run verify:packages` proves the deb on a real Debian with systemd: a device enrolls with an
 * enrollment key, is upgraded from the apt repository of the service, and is purged. It needs root,
 * Debian, mmdebstrap, systemd-container and what `build:packages` needs.
 */
const options = new Command("verify:packages")
	.option("--first <folder>", "signed packages of 0.1.0, instead of building")
	.option("--second <folder>", "the same folder with a second version")
	.option("--image <file>", "tar of the Debian, made if it does not exist")
	.parse()
	.opts<{ first?: string; second?: string; image?: string }>();

const ROOT = join(import.meta.dirname, "../..");
const work = mkdtempSync(join(tmpdir(), "assay-verify-"));
const FIRST = "0.1.0";
const SECOND = "0.1.1";
const OWNER = "grace@example.com";
const KEY_FILE = "/etc/assay-agent/enrollment-key";

function build(): { first: string; second: string } {
	if (options.first && options.second) {
		return { first: options.first, second: options.second };
	}
	const home = join(work, "gnupg");
	mkdirSync(home, { mode: 0o700 });
	const env = { ...process.env, GNUPGHOME: home };
	const name = "packages@example.com";
	const key = ["--passphrase", "", "--quick-gen-key", name, "rsa3072", "sign"];
	execFileSync("gpg", ["--batch", "--quiet", ...key], { env });
	const make = (release: string, out: string) =>
		execFileSync(
			process.execPath,
			[
				join(ROOT, "agent/packages/build-packages.ts"),
				...["--only", `linux-${process.arch}`, "--formats", "deb"],
				...["--level", "0", "--release", release, "--out", out],
				...["--sign-with", name],
			],
			{ env, stdio: "inherit" },
		);
	const [first, second] = [join(work, "first"), join(work, "second")];
	make(FIRST, first);
	cpSync(first, second, { recursive: true });
	make(SECOND, second);
	return { first, second };
}

async function printed(args: string[], settings: Record<string, string>) {
	const { code, stdout, stderr } = await assay([...args, "--json"], settings);
	if (code !== 0) throw new Error(`assay ${args.join(" ")}: ${stderr}`);
	return JSON.parse(stdout);
}

/** Verifies the packages as somebody can who has only the published files. */
function checkSignature(folder: string): void {
	const home = join(work, "gnupg-of-administrator");
	mkdirSync(home, { mode: 0o700 });
	const env = { ...process.env, GNUPGHOME: home };
	const at = (name: string) => join(folder, name);
	const gpg = (...args: string[]) =>
		spawnSync("gpg", ["--batch", ...args], { env, encoding: "utf8" });
	gpg("--import", at("assay-agent.asc"));
	const verified = gpg("--verify", at("SHA256SUMS.asc"), at("SHA256SUMS"));
	assert.equal(verified.status, 0, verified.stderr);
	execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], {
		cwd: folder,
	});
	const changed = join(work, "changed-sums");
	writeFileSync(changed, `${readFileSync(at("SHA256SUMS"), "utf8")}\n`);
	const refused = gpg("--verify", at("SHA256SUMS.asc"), changed);
	assert.match(refused.stderr, /BAD signature/);
}

const built = build();
checkSignature(built.second);
const offered = join(work, "offered");
cpSync(built.first, offered, { recursive: true });
const settings = {
	ASSAY_DATA_DIR: join(work, "data"),
	ASSAY_AGENT_DIR: offered,
};
const service = await startAssay(settings);
let machine: Machine | undefined;
try {
	const image = options.image ?? join(work, "debian.tar");
	machine = await bootDebian(join(work, "machine"), image);
	await verify(machine);
	console.log("The deb works: enrolled, upgraded from the repository, purged.");
} catch (error) {
	console.error(error);
	console.error(machine ? readLog(machine) : service.stderr());
	process.exitCode = 1;
} finally {
	await machine?.stop();
	await service.stop("SIGTERM");
	rmSync(work, { recursive: true, force: true });
}

async function verify(machine: Machine): Promise<void> {
	const org = await printed(["org", "create", "--name", "Acme"], settings);
	const organization_id = org.organization_id ?? org.id;
	const user = ["--email", "ada@example.com", "--name", "Ada"];
	await printed(
		["user", "create", ...user, "--org", organization_id, "--role", "admin"],
		settings,
	);
	const made = await printed(
		["api-token", "create", "--user", "ada@example.com", "--name", "verify"],
		settings,
	);
	const call = async (tool: string, input: object) => {
		const response = await fetch(`${service.url}/api/mcp/tools/${tool}`, {
			method: "POST",
			headers: { authorization: `Bearer ${made.token ?? made.api_token}` },
			body: JSON.stringify(input),
		});
		const answer = await response.json();
		if (!response.ok) throw new Error(`${tool}: ${JSON.stringify(answer)}`);
		return answer as object;
	};
	await call("addPeople", {
		organization_id,
		full_name: "Grace Hopper",
		primary_email_address: OWNER,
		kind: "EMPLOYEE",
	});
	const { enrollment_key } = (await call("addEnrollmentKey", {
		organization_id,
		name: "verify",
		max_devices: 1,
	})) as { enrollment_key: string };
	type Seen = { id: string; status: string; agent_version: string };
	const devices = async () =>
		(
			(await call("listDevices", { organization_id, detail: "full" })) as {
				devices: Seen[];
			}
		).devices;
	const repository = `${service.url}/agent-packages/`;

	const key = await (await fetch(`${repository}assay-agent.asc`)).text();
	writeFileSync(inMachine(machine, "/etc/apt/assay-agent.asc"), key);
	const line = `deb [signed-by=/etc/apt/assay-agent.asc] ${repository} ./\n`;
	writeFileSync(
		inMachine(machine, "/etc/apt/sources.list.d/assay-agent.list"),
		line,
	);
	mkdirSync(inMachine(machine, "/etc/assay-agent"), { recursive: true });
	writeFileSync(
		inMachine(machine, "/etc/assay-agent/config"),
		`SERVER=${service.url}\nKEYFILE=${KEY_FILE}\nOWNEREMAIL=${OWNER}\n`,
		{ mode: 0o644 },
	);
	writeFileSync(inMachine(machine, KEY_FILE), enrollment_key, { mode: 0o600 });

	machine.run("apt-get update && apt-get install -y assay-agent");
	console.log("ok  apt installed the package from the service's repository");
	await until(`the device is ACTIVE with agent ${FIRST}`, async () => {
		const [device] = await devices();
		return device?.status === "ACTIVE" && device.agent_version === FIRST;
	});
	const id = (await devices())[0]?.id;
	await until(
		"the results of all checks and its claimed owner are there",
		async () => {
			const { device } = (await call("getDevice", { id })) as {
				device: {
					postures: unknown[];
					claimed_owner_id: string | null;
				};
			};
			return (
				device.postures.length === CHECK_KEYS.length &&
				device.claimed_owner_id !== null
			);
		},
	);
	await call("confirmDeviceOwners", { organization_id, device_ids: [id] });
	await until("the enrollment key is deleted from the device", () =>
		Boolean(!existsSync(inMachine(machine, KEY_FILE))),
	);
	await until("assay-agent is in PATH and knows its service", () =>
		machine.run("assay-agent status").includes("systemd (running)"),
	);

	cpSync(built.second, offered, { recursive: true });
	await until(`the service offers ${SECOND}`, async () => {
		const list = await fetch(`${repository}packages.json`);
		return ((await list.json()) as { version: string }).version === SECOND;
	});
	await until("apt upgrades the agent", () => {
		machine.run(
			"apt-get update && apt-get install -y --only-upgrade assay-agent",
		);
		return machine.run("assay-agent --version").trim() === SECOND;
	});
	await until("the upgraded device reports as the same one", async () => {
		// The service sends its next heartbeat within five minutes. This one comes sooner.
		machine.run(
			"systemctl is-active assay-agent && systemctl stop assay-agent",
		);
		machine.run("assay-agent once && systemctl start assay-agent");
		const [device, ...others] = await devices();
		return device?.agent_version === SECOND && others.length === 0;
	});

	machine.run("apt-get purge -y assay-agent");
	await until("purging revoked the device", async () => {
		const [device] = await devices();
		return device?.status === "REVOKED";
	});
	await until("purging left nothing behind", () => {
		const left = machine.run(
			"ls -d /etc/assay-agent /var/lib/assay-agent* /usr/bin/assay-agent /etc/systemd/system/*/assay-agent.service /etc/systemd/system/assay-agent.service 2>/dev/null || true",
		);
		return left.trim() === "";
	});
}

function readLog(machine: Machine): string {
	try {
		return machine.run("journalctl -u assay-agent -n 40 --no-pager");
	} catch (error) {
		return `no log of the agent: ${error}`;
	}
}
