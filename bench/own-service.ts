import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = join(import.meta.dirname, "..");
export const BENCH_SECRET = "what the sessions of the bench are signed with";
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 30_000;
const LOG_TAIL = 4_000;

const running = new Set<ChildProcess>();
process.on("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

export async function freePort(): Promise<number> {
	const probe = createServer().listen(0, "127.0.0.1");
	await once(probe, "listening");
	const address = probe.address();
	probe.close();
	await once(probe, "close");
	if (typeof address !== "object" || !address) throw new Error("no free port");
	return address.port;
}

/** Runs the real service as a process. The service keeps its port when it is started again. */
export class OwnService {
	readonly port: number;
	readonly #dataDir: string;
	readonly #databaseUrl: string;
	readonly #settings: Record<string, string>;
	#child: ChildProcess | undefined;
	/** The largest resident memory of any of its processes so far, in MiB. */
	peakMib = 0;
	/** The number of times that it ended without being asked to. */
	crashes = 0;
	/** The last part of its standard error output. */
	log = "";
	#isEnding = false;

	constructor(
		port: number,
		dataDir: string,
		databaseUrl: string,
		settings: Record<string, string> = {},
	) {
		this.port = port;
		this.#dataDir = dataDir;
		this.#databaseUrl = databaseUrl;
		this.#settings = settings;
	}

	get pid(): number | undefined {
		return this.#child?.pid;
	}

	async start(): Promise<void> {
		const env = Object.fromEntries(
			Object.entries(process.env).filter(
				([name]) => !name.startsWith("ASSAY_"),
			),
		);
		const child = spawn(
			process.execPath,
			[join(ROOT, "bin/assay.js"), "start", "--json"],
			{
				cwd: ROOT,
				env: {
					...env,
					ASSAY_PORT: String(this.port),
					ASSAY_DATA_DIR: this.#dataDir,
					ASSAY_LOG_LEVEL: "error",
					ASSAY_SECRET: BENCH_SECRET,
					DATABASE_URL: this.#databaseUrl,
					...this.#settings,
				},
				stdio: ["ignore", "pipe", "pipe"],
				// The benchmark handles Ctrl-C itself, so that everything ends in the right order.
				detached: true,
			},
		);
		this.#child = child;
		this.#isEnding = false;
		running.add(child);
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.log = (this.log + text).slice(-LOG_TAIL);
		});
		child.once("exit", () => {
			running.delete(child);
			if (!this.#isEnding) this.crashes++;
		});
		const late = AbortSignal.timeout(START_TIMEOUT_MS);
		const ready = once(createInterface(child.stdout), "line", { signal: late });
		const exited = once(child, "exit").then(([code]) => {
			throw new Error(`the service ended with ${code}: ${this.log}`);
		});
		await Promise.race([ready, exited]);
	}

	async kill(): Promise<void> {
		await this.#end("SIGKILL");
	}

	/** Pauses the process. Until `thaw`, it keeps its connections but answers nobody. */
	freeze(): void {
		this.#child?.kill("SIGSTOP");
	}

	thaw(): void {
		this.#child?.kill("SIGCONT");
	}

	async stop(): Promise<void> {
		const timer = setTimeout(
			() => this.#child?.kill("SIGKILL"),
			STOP_TIMEOUT_MS,
		);
		await this.#end("SIGTERM");
		clearTimeout(timer);
	}

	async #end(signal: NodeJS.Signals): Promise<void> {
		const child = this.#child;
		if (!child || child.exitCode !== null || child.signalCode !== null) return;
		this.#isEnding = true;
		const exit = once(child, "exit");
		child.kill(signal);
		await exit;
	}

	/**
	 * Returns its resident memory in MiB. Returns 0 while it does not run or if the memory cannot be
	 * read.
	 */
	readMib(): number {
		try {
			const text = readFileSync(`/proc/${this.pid}/status`, "utf8");
			const mib = Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
			this.peakMib = Math.max(this.peakMib, mib);
			return mib;
		} catch {
			return 0;
		}
	}
}
