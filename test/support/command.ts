import { Readable, Writable } from "node:stream";
import { runAgentCommand } from "../../agent/command.ts";
import { main } from "../../src/main.ts";
import { type Ended, PROGRAM, withSettings } from "./program.ts";

let latest: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `assay` in this process with `input` as its standard input. Returns the output
 * and exit code that the program would have had. Starting the program takes a hundred times as
 * long. A test that needs a real process uses `assay` in program.ts instead. Commands run one
 * after another, because they share the environment and the streams of this process.
 */
export function runCommand(
	args: string[],
	settings: Record<string, string> = {},
	input = "",
): Promise<Ended> {
	// A command that has failed would end its process after a while, but this process continues.
	return inTurn(() => main(args, () => {}), settings, input);
}

/** Runs a command of `assay agent` in this process, as `runCommand` does for all other commands. */
export function runAgent(
	args: string[],
	settings: Record<string, string> = {},
	input = "",
): Promise<Ended> {
	const run = () => runAgentCommand(args, "assay agent", ["agent"]);
	return inTurn(run, settings, input);
}

function inTurn(
	run: () => Promise<void>,
	settings: Record<string, string>,
	input: string,
): Promise<Ended> {
	const ended = latest.then(() => runAlone(run, settings, input));
	latest = ended.catch(() => {});
	return ended;
}

/** The signals that the agent's commands handle until their process ends. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function runAlone(
	run: () => Promise<void>,
	settings: Record<string, string>,
	input: string,
): Promise<Ended> {
	const { env, exitCode } = process;
	const listeners = SIGNALS.map((name) => process.listeners(name));
	const stdout = new Capture();
	const stderr = new Capture();
	const restores = [
		replace("stdout", stdout),
		replace("stderr", stderr),
		replace("stdin", Readable.from([Buffer.from(input)])),
		// For some checks, the agent starts its own program again, so these arguments must name it.
		replace("argv", [process.execPath, PROGRAM]),
	];
	process.env = withSettings(settings);
	process.exitCode = undefined;
	try {
		await run();
		return {
			code: Number(process.exitCode ?? 0),
			stdout: stdout.text(),
			stderr: stderr.text(),
		};
	} finally {
		for (const restore of restores) restore();
		process.env = env;
		process.exitCode = exitCode;
		for (const [index, name] of SIGNALS.entries()) {
			for (const listener of process.listeners(name)) {
				if (!listeners[index]?.includes(listener)) process.off(name, listener);
			}
		}
	}
}

/** Replaces a property of the process. Returns a function that restores the property. */
function replace(name: keyof typeof process, value: unknown): () => void {
	const before = Object.getOwnPropertyDescriptor(process, name);
	Object.defineProperty(process, name, { value, configurable: true });
	return () => {
		if (before) Object.defineProperty(process, name, before);
		else Reflect.deleteProperty(process, name);
	};
}

/** Keeps everything that is written to it. */
class Capture extends Writable {
	readonly #chunks: Buffer[] = [];

	override _write(chunk: Buffer, _: string, done: () => void): void {
		this.#chunks.push(chunk);
		done();
	}

	text(): string {
		return Buffer.concat(this.#chunks).toString();
	}
}
