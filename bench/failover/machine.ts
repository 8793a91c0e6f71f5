import { type ChildProcess, spawn } from "node:child_process";
import {
	chmodSync,
	chownSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { asUser, chooseOsUser } from "../../src/db/postgres-binaries.ts";

const DEPLOY = join(import.meta.dirname, "../../deploy");
const PROGRAM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Texts in an example, each with its replacement for this run. It is an error if the example does
 * not contain a text.
 */
export type Replacements = [example: string | RegExp, here: string][];

/** Returns the content of a file below `deploy/` with the addresses and folders of this run. */
export function adapt(file: string, replacements: Replacements): string {
	let text = readFileSync(join(DEPLOY, file), "utf8");
	for (const [example, here] of replacements) {
		const pattern =
			typeof example === "string" ? RegExp.escape(example) : example.source;
		if (!new RegExp(pattern, "m").test(text)) {
			throw new Error(`${file} has no ${example}`);
		}
		text = text.replaceAll(new RegExp(pattern, "gm"), here);
	}
	return text;
}

/**
 * The programs of one database machine: etcd and, if the machine has them, Patroni and PostgreSQL.
 * They are configured by the examples in `deploy/`. Each machine has its own loopback address, so
 * the programs use their real ports.
 */
export class Machine {
	readonly name: string;
	readonly address: string;
	readonly #folder: string;
	readonly #network: string;
	readonly #hasPostgres: boolean;
	readonly #user;
	#children: ChildProcess[] = [];

	/** `network` is the first three numbers of all addresses in this run. */
	constructor(
		name: string,
		folder: string,
		network: string,
		host: number,
		hasPostgres: boolean,
	) {
		this.name = name;
		this.#network = network;
		this.address = `${network}.${host}`;
		this.#folder = join(folder, name);
		this.#hasPostgres = hasPostgres;
		this.#user = chooseOsUser(folder);
		mkdirSync(this.#folder);
		chmodSync(this.#folder, 0o700);
		if (this.#user) {
			chownSync(this.#folder, this.#user.uid, this.#user.gid);
		}
	}

	/** The output of all programs, which helps if one does not start. */
	get log(): string {
		const file = join(this.#folder, "log");
		return readFileSync(file, "utf8").slice(-3_000);
	}

	start(): void {
		const own: Replacements = [
			[/(?<==http:\/\/)10\.0\.0\.11(?=:\d+$)/, this.address],
			["10.0.0.", `${this.#network}.`],
			["/var/lib/etcd/assay", join(this.#folder, "etcd")],
			["ETCD_NAME=db1", `ETCD_NAME=${this.name}`],
		];
		// All files of a machine are in one folder, so that a second start finds the files of the
		// first.
		const etcd = parseEnv(adapt("patroni/etcd", own));
		this.#spawn("etcd", ["--log-level=warn", "--logger=zap"], etcd);
		if (this.#hasPostgres) {
			const file = join(this.#folder, "patroni.yaml");
			writeFileSync(file, this.#patroniYaml(), { mode: 0o644 });
			this.#spawn("patroni", [file]);
		}
	}

	#patroniYaml(): string {
		return adapt("patroni/patroni.yaml", [
			["name: db1", `name: ${this.name}`],
			// Connections between loopback addresses come from 127.0.0.1.
			["10.0.0.0/24", "127.0.0.0/8"],
			[/(?<=(?:listen|connect_address): )10\.0\.0\.11/, this.address],
			["10.0.0.", `${this.#network}.`],
			["/var/lib/postgresql/15/assay", this.#dataFolder],
			["/var/lib/postgresql/patroni.pgpass", join(this.#folder, "pgpass")],
			["/var/run/postgresql", this.#folder],
			// A real watchdog would restart the machine on which the benchmark runs.
			["mode: automatic", "mode: off"],
		]);
	}

	get #dataFolder(): string {
		return join(this.#folder, "data");
	}

	/**
	 * Kills all programs of the machine with kill -9 at the same moment, which is like a loss of
	 * power.
	 */
	kill(): void {
		const roots = this.#children.splice(0).map(({ pid }) => pid);
		for (const pid of [...roots, this.#postmaster].flatMap(withDescendants)) {
			try {
				process.kill(pid, "SIGKILL");
			} catch {
				// The process ended by itself just before.
			}
		}
	}

	/** Stops the processes that send writes to the standby, so that from now on it learns of none. */
	silence(): void {
		for (const pid of withDescendants(this.#postmaster)) {
			const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
			if (command.includes("walsender")) process.kill(pid, "SIGSTOP");
		}
	}

	/**
	 * The process id of PostgreSQL. It is not a child of Patroni, so it survives a restart of
	 * Patroni.
	 */
	get #postmaster(): number | undefined {
		try {
			const file = join(this.#dataFolder, "postmaster.pid");
			const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
			// The file may come from a server that is dead, and another process may have its id by now.
			const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
			return command.includes(this.#dataFolder) ? pid : undefined;
		} catch {
			return undefined;
		}
	}

	#spawn(program: string, args: string[], settings: NodeJS.Dict<string> = {}) {
		const user = asUser(this.#user);
		const log = openSync(join(this.#folder, "log"), "a");
		const env = { ...user.env, PATH: PROGRAM_PATH, ...settings };
		const child = spawn(program, args, {
			...user,
			cwd: this.#folder,
			env,
			detached: true,
			stdio: ["ignore", log, log],
		});
		child.on("error", () => {});
		this.#children.push(child);
	}
}

/** Returns the ids of a process and of all its descendants. A parent comes before its children. */
function withDescendants(root: number | undefined): number[] {
	if (root === undefined) return [];
	const parents = new Map<number, number>();
	for (const name of readdirSync("/proc").filter((name) =>
		/^\d+$/.test(name),
	)) {
		try {
			const stat = readFileSync(`/proc/${name}/stat`, "utf8");
			const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
			parents.set(Number(name), Number(fields[1]));
		} catch {
			// The process has ended in the meantime.
		}
	}
	const found = [root];
	for (const pid of found) {
		for (const [child, parent] of parents) {
			if (parent === pid) found.push(child);
		}
	}
	return found;
}
