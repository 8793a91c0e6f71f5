import { Writable } from "node:stream";
import { AgentError, EXIT } from "./agent-error.ts";
import { readTextFile } from "./files.ts";

const VARIABLE = "ASSAY_ENROLLMENT_TOKEN";
const MAX_BYTES = 4096;

/**
 * Returns the enrollment token or enrollment key from the file, the environment or standard input,
 * in this order. On a terminal, the agent asks for it and does not show what is typed.
 */
export async function readEnrollmentToken(
	file: string | undefined,
	input: NodeJS.ReadStream = process.stdin,
): Promise<string> {
	const fromEnvironment = process.env[VARIABLE];
	// The variable is deleted, so that the programs which the agent starts do not inherit the token.
	delete process.env[VARIABLE];
	if (file !== undefined) return check(await readTokenFile(file), file);
	if (fromEnvironment) return check(fromEnvironment, VARIABLE);
	if (input.isTTY) return check(await ask(input), "the input");
	return check(await readAll(input), "standard input");
}

/**
 * Throws if an argument is a token or is an option that looks as if it took one. Every user of the
 * machine can see command lines in the list of processes.
 */
export function rejectTokenArgument(argv: readonly string[]): void {
	const isToken = argv.some(
		(argument) =>
			/asy_en[rk]_/i.test(argument) ||
			/^--?(enrollment-?)?(token|key)(=|$)/i.test(argument),
	);
	if (!isToken) return;
	throw new AgentError(
		`do not give an enrollment token or key on the command line, where every user of this machine can read it; use --enrollment-token-file, ${VARIABLE} or standard input. If it was real, ask an administrator for a new one`,
		{ exitCode: EXIT.wrongUsage },
	);
}

async function readTokenFile(file: string): Promise<string> {
	try {
		return await readTextFile(file);
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		throw new AgentError(
			`the enrollment token file ${file} cannot be read (${code}); check its path and who may read it`,
			{ cause },
		);
	}
}

async function readAll(input: NodeJS.ReadableStream): Promise<string> {
	let text = "";
	for await (const chunk of input) {
		text += chunk;
		if (text.length > MAX_BYTES) break;
	}
	return text;
}

async function ask(input: NodeJS.ReadStream): Promise<string> {
	// Imported late, because an agent that waits for its enrollment never asks.
	const { createInterface } = await import("node:readline");
	process.stderr.write("Enrollment token or key (not shown while you type): ");
	const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
	const lines = createInterface({ input, output: silent, terminal: true });
	return new Promise((resolve) => {
		let answer = "";
		lines.on("line", (line) => {
			answer = line;
			lines.close();
		});
		lines.on("close", () => {
			process.stderr.write("\n");
			resolve(answer);
		});
	});
}

function check(text: string, source: string): string {
	const token = text.trim();
	if (token === "") {
		throw new AgentError(
			`there is no enrollment token in ${source}; an administrator can create one in the console, under Devices, or with \`assay device create\``,
			{ exitCode: EXIT.wrongUsage },
		);
	}
	if (token.length > MAX_BYTES || /[^\x21-\x7e]/.test(token)) {
		throw new AgentError(
			`${source} must contain one whole enrollment token and nothing else; copy the token again`,
			{ exitCode: EXIT.wrongUsage },
		);
	}
	return token;
}
