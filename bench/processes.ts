import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command, Load, LoadResult, Message } from "./protocol.ts";

const ROOT = join(import.meta.dirname, "..");
const START_TIMEOUT_MS = 60_000;
/**
 * Milliseconds for the service to stop. It finishes requests for up to 10 s, and its database may
 * still write a checkpoint.
 */
const STOP_TIMEOUT_MS = 30_000;

const children = new Set<ChildProcess>();
process.on("exit", () => {
	for (const child of children) child.kill("SIGKILL");
});

/** Ends all processes that were started here and still run, even if they are not ready yet. */
export async function stopChildren(): Promise<void> {
	await Promise.all([...children].map((child) => end(child)));
}

/** A server that is being measured. */
export interface Server {
	port: number;
	pid: number;
	/** Stops the server. It may be called more than once. */
	stop: () => Promise<void>;
}

/**
 * Starts the service with the command that its users run, with an embedded database in `dataDir`.
 * `root` is the checkout whose service is started.
 */
export async function startService(
	dataDir: string,
	workers: number,
	profileDir: string | undefined,
	root = ROOT,
	nodeOptions: readonly string[] = [],
): Promise<Server> {
	const env = Object.fromEntries(
		Object.entries(process.env).filter(
			([name]) => !name.startsWith("ASSAY_") && name !== "DATABASE_URL",
		),
	);
	const child = spawn(
		process.execPath,
		[
			...nodeOptions,
			...(profileDir ? ["--cpu-prof", `--cpu-prof-dir=${profileDir}`] : []),
			join(root, "bin/assay.js"),
			"start",
			"--json",
			`--workers=${workers}`,
		],
		{
			cwd: root,
			env: {
				...env,
				ASSAY_PORT: "0",
				ASSAY_DATA_DIR: dataDir,
				ASSAY_LOG_LEVEL: "warn",
			},
			stdio: ["ignore", "pipe", "inherit"],
			// The benchmark handles Ctrl-C itself, so that everything ends in the right order.
			detached: true,
		},
	);
	children.add(child);
	const line = once(createInterface(child.stdout), "line");
	const [text] = await orExit(child, line, "the service");
	const { listening } = JSON.parse(text as string);
	const port = Number(new URL(listening).port);
	return { port, pid: child.pid as number, stop: () => end(child) };
}

export async function startBareServer(): Promise<Server> {
	const child = fork(join(ROOT, "bench/bare-server.ts"));
	children.add(child);
	const message = once(child, "message");
	const [port] = await orExit(child, message, "the bare server");
	return { port, pid: child.pid as number, stop: () => end(child) };
}

/**
 * Controls the load generator, which runs in a process of its own so that it does not share a
 * thread.
 */
export class LoadGenerator {
	readonly #child: ChildProcess;
	#messages: Message[] = [];
	#wake = () => {};
	#reason: string | undefined;

	constructor(fleetFile: string) {
		this.#child = fork(join(ROOT, "bench/load.ts"), [fleetFile]);
		children.add(this.#child);
		this.#child.on("message", (message: Message) => {
			if (message.type === "failed") this.#reason = message.reason;
			this.#messages.push(message);
			this.#wake();
		});
		this.#child.on("exit", (code) => {
			this.#reason ??= `it exited (${code})`;
			this.#wake();
		});
	}

	async start(load: Load): Promise<void> {
		this.#messages = [];
		this.#tell({ do: "start", load });
		await this.#next("started", START_TIMEOUT_MS);
	}

	measure(): void {
		this.#tell({ do: "measure" });
	}

	/** Waits `ms` milliseconds. Resolves early with true if the load has no devices left. */
	async during(ms: number): Promise<boolean> {
		return (await this.#next("exhausted", ms)) !== undefined;
	}

	async stop(): Promise<LoadResult> {
		this.#tell({ do: "stop" });
		const message = await this.#next("stopped", STOP_TIMEOUT_MS);
		if (message?.type === "stopped") return message.result;
		throw new Error("the load generator does not stop");
	}

	#tell(command: Command): void {
		this.#child.send(command);
	}

	/** Waits for a message of this type. Returns undefined if none arrives in time. */
	async #next(
		type: Message["type"],
		timeoutMs: number,
	): Promise<Message | undefined> {
		const deadline = performance.now() + timeoutMs;
		for (;;) {
			if (this.#reason) {
				throw new Error(`the load generator failed: ${this.#reason}`);
			}
			const found = this.#messages.find((message) => message.type === type);
			const leftMs = deadline - performance.now();
			if (found || leftMs <= 0) return found;
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, leftMs);
				this.#wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
	}
}

async function orExit<Result>(
	child: ChildProcess,
	ready: Promise<Result>,
	name: string,
): Promise<Result> {
	const exited = once(child, "exit").then(([code]) => {
		throw new Error(`${name} exited (${code}) before it was ready`);
	});
	const late = sleep(START_TIMEOUT_MS, undefined, { ref: false }).then(() => {
		throw new Error(`${name} was not ready in time`);
	});
	return Promise.race([ready, exited, late]);
}

async function end(child: ChildProcess): Promise<void> {
	if (child.exitCode === null && child.signalCode === null) {
		const exited = once(child, "exit");
		child.kill("SIGTERM");
		const killing = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
		await exited;
		clearTimeout(killing);
	}
	children.delete(child);
}
