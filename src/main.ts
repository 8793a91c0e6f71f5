import cluster, { type Worker } from "node:cluster";
import { Command, CommanderError } from "commander";
import type { WorkerFailed } from "./cli/workers.ts";
import {
	FILE_SETTING_NAMES,
	SETTING_NAMES,
	SETTINGS,
} from "./config/settings.ts";
import { connectionAdvice, embeddedAdvice } from "./db/connection-advice.ts";
import {
	AppError,
	EXIT_REFUSED,
	isDatabaseUnavailable,
	plainReason,
	StartRefused,
} from "./errors.ts";
import { redact } from "./log.ts";
import { describeVersion } from "./version.ts";

const EXIT_FAILED = 1;
const EXIT_WRONG_USAGE = 2;

const NAME_WIDTH = Math.max(...SETTING_NAMES.map((name) => name.length));

const ENVIRONMENT = `
Environment:
${SETTING_NAMES.map((name) => {
	const setting = SETTINGS[name];
	const otherwise = "default" in setting ? setting.default : setting.without;
	return `  ${name.padEnd(NAME_WIDTH)}  ${setting.help} (${otherwise})`;
}).join("\n")}

Each of these can also stand in a file, which NAME_FILE names: ${FILE_SETTING_NAMES.join(", ")}.
`;

/**
 * All commands, in the order in which --help lists them. The code of a command is loaded only when
 * the command is called, because some commands need much code.
 */
const COMMANDS = new Map<string, () => Promise<(program: Command) => void>>([
	["start", async () => (await import("./cli/start.ts")).addStart],
	["demo", async () => (await import("./cli/demo.ts")).addDemo],
	[
		"setup-link",
		async () => (await import("./cli/setup-link.ts")).addSetupLink,
	],
	["migrate", async () => (await import("./cli/migrate.ts")).addMigrate],
	["separate", async () => (await import("./cli/separate.ts")).addSeparate],
	["org", async () => (await import("./cli/org.ts")).addOrg],
	["user", async () => (await import("./cli/user.ts")).addUser],
	["person", async () => (await import("./cli/person.ts")).addPerson],
	["api-token", async () => (await import("./cli/api-token.ts")).addApiToken],
	["device", async () => (await import("./cli/device.ts")).addDevice],
	[
		"enrollment-key",
		async () => (await import("./cli/enrollment-key.ts")).addEnrollmentKeys,
	],
	["call", async () => (await import("./cli/call.ts")).addCall],
	["evidence", async () => (await import("./cli/evidence.ts")).addEvidence],
	["audit", async () => (await import("./cli/audit.ts")).addAudit],
	["mail", async () => (await import("./cli/mail.ts")).addMail],
	["backup", async () => (await import("./cli/backup.ts")).addBackup],
	["archive", async () => (await import("./cli/archive.ts")).addArchive],
	["restore", async () => (await import("./cli/restore.ts")).addRestore],
	[
		"maintenance",
		async () => (await import("./cli/maintenance.ts")).addMaintenance,
	],
	["doctor", async () => (await import("./cli/doctor.ts")).addDoctor],
	["simulate", async () => (await import("./cli/simulate.ts")).addSimulate],
	["agent", async () => (await import("./cli/agent.ts")).addAgent],
]);

/**
 * Returns the program with only the named command, or with none if only the version is asked for. If
 * the name is unknown, returns it with all commands.
 */
async function makeProgram(name: string | undefined): Promise<Command> {
	const program = new Command("assay")
		.description("A self-hosted compliance service.")
		.version(describeVersion())
		.addHelpText("after", ENVIRONMENT)
		.showHelpAfterError("(use --help for the list of commands)")
		.exitOverride();
	if (name === "--version" || name === "-V") return program;
	// The list of commands needs all commands, and so does the suggestion for a misspelled name.
	const called = COMMANDS.get(name ?? "");
	for (const load of called ? [called] : COMMANDS.values()) {
		const add = await load();
		add(program);
	}
	return program;
}

const LINGERING_MS = 5_000;

/**
 * Runs the command in `argv` (without node and the script). Standard output gets only the result.
 * Sets the exit code: 0 for success, 1 for an error, 2 for wrong usage, and 78 if `start` fails until
 * a person changes something.
 */
export async function main(
	argv: string[],
	exit: () => void = () => process.exit(),
): Promise<void> {
	ignoreClosedPipes();
	try {
		const program = await makeProgram(argv[0]);
		await program.parseAsync(argv, { from: "user" });
	} catch (error) {
		if (cluster.worker) leaveParent(cluster.worker, error);
		if (error instanceof CommanderError) {
			// Commander has already printed its message. --help and --version are not errors.
			process.exitCode = error.exitCode === 0 ? 0 : EXIT_WRONG_USAGE;
			return;
		}
		const isStart = argv[0] === "start";
		process.exitCode =
			isStart && error instanceof StartRefused ? EXIT_REFUSED : EXIT_FAILED;
		const line =
			isStart && !process.stderr.isTTY
				? logLineOf(error)
				: `assay: ${describe(error)}`;
		process.stderr.write(redact(`${line}\n`));
		// A failed start must end the process, even if the start left something open that keeps the
		// process alive.
		setTimeout(exit, LINGERING_MS).unref();
	}
}

/**
 * Tells the parent process why this worker could not start, and closes the channel to it, which
 * would keep the worker alive. If the process closed the channel itself, Node would end the worker
 * with 0, and the parent would not learn the exit code.
 */
function leaveParent(worker: Worker, error: unknown): void {
	const failed: WorkerFailed = {
		failure: explain(error) ?? (error as Error).message,
	};
	worker.send(failed, () => worker.disconnect());
}

/**
 * Keeps the process alive when the reader of its output has gone, as after `npm start | head -1`.
 * The service then continues without output, and SIGTERM still stops it and its database cleanly.
 */
function ignoreClosedPipes(): void {
	for (const stream of [process.stdout, process.stderr]) {
		stream.on("error", (error: NodeJS.ErrnoException) => {
			if (error.code !== "EPIPE") process.exitCode ??= EXIT_FAILED;
		});
	}
}

function describe(error: unknown): string {
	return explain(error) ?? String((error as Error).stack ?? error);
}

/** Says what went wrong and what to do. Returns undefined for an error that nobody expected. */
function explain(error: unknown): string | undefined {
	if (error instanceof AppError) return error.message;
	if (!isDatabaseUnavailable(error)) return undefined;
	const { DATABASE_URL, DATABASE_URL_FILE } = process.env;
	const advise =
		DATABASE_URL || DATABASE_URL_FILE ? connectionAdvice : embeddedAdvice;
	return `Assay cannot open its database (${plainReason((error as Error).message)}); ${advise(error)}`;
}

/** Returns a failed start as a line of the log, whose lines are all JSON. */
function logLineOf(error: unknown): string {
	const { name, message, stack } = error as Error;
	const reason = explain(error);
	return JSON.stringify({
		level: "fatal",
		time: new Date().toISOString(),
		...(reason === undefined
			? { err: { type: name, message, stack } }
			: { reason }),
		msg: "Assay could not start",
	});
}
