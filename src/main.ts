import { Command, CommanderError } from "commander";
import { AppError, toAppError } from "./errors.ts";
import { redact } from "./log.ts";
import { VERSION } from "./version.ts";

const EXIT_FAILED = 1;
const EXIT_WRONG_USAGE = 2;

const ENVIRONMENT = `
Environment:
  ASSAY_HOST       address to listen on (127.0.0.1)
  ASSAY_PORT       port to listen on (8080)
  ASSAY_BASE_URL   address that agents and people use (http://localhost:<port>)
  ASSAY_TRUSTED_PROXIES  addresses or ranges of proxies whose X-Forwarded-For counts (none)
  ASSAY_DATA_DIR   folder of the embedded database and the secret (./data)
  DATABASE_URL     use this PostgreSQL 15 or newer instead of the embedded one
  ASSAY_SECRET     what sessions are signed with (made and kept in the data folder)
  ASSAY_SMTP_URL   mail server, such as smtps://user:password@mail.example.com (none: no mail)
  ASSAY_MAIL_FROM  who mails come from, such as Assay <assay@example.com>
  ASSAY_REPORT_RETENTION_MONTHS  how long raw posture reports are kept (13; 0: for ever)
  ASSAY_TOKEN      API token with which assay call works
  ASSAY_METRICS_PORT  serve metrics for Prometheus on this port (none)
  ASSAY_LOG_LEVEL  trace, debug, info, warn, error, fatal or silent (info)
`;

/** In the order of --help. The code of a command is loaded when it is called: of some it is much. */
const COMMANDS = new Map<string, () => Promise<(program: Command) => void>>([
	["start", async () => (await import("./cli/start.ts")).addStart],
	["demo", async () => (await import("./cli/demo.ts")).addDemo],
	[
		"setup-link",
		async () => (await import("./cli/setup-link.ts")).addSetupLink,
	],
	["migrate", async () => (await import("./cli/migrate.ts")).addMigrate],
	["org", async () => (await import("./cli/org.ts")).addOrg],
	["user", async () => (await import("./cli/user.ts")).addUser],
	["person", async () => (await import("./cli/person.ts")).addPerson],
	["api-token", async () => (await import("./cli/api-token.ts")).addApiToken],
	["device", async () => (await import("./cli/device.ts")).addDevice],
	["call", async () => (await import("./cli/call.ts")).addCall],
	["audit", async () => (await import("./cli/audit.ts")).addAudit],
	["backup", async () => (await import("./cli/backup.ts")).addBackup],
	["restore", async () => (await import("./cli/restore.ts")).addRestore],
	["doctor", async () => (await import("./cli/doctor.ts")).addDoctor],
	["simulate", async () => (await import("./cli/simulate.ts")).addSimulate],
	["agent", async () => (await import("./cli/agent.ts")).addAgent],
]);

/** With the command of this name, or with every one. */
async function makeProgram(name: string | undefined): Promise<Command> {
	const program = new Command("assay")
		.description("A self-hosted compliance service.")
		.version(VERSION)
		.addHelpText("after", ENVIRONMENT)
		.showHelpAfterError("(--help says what is possible)")
		.exitOverride();
	// Help on all of them and advice on a misspelt one take all.
	const called = COMMANDS.get(name ?? "");
	for (const load of called ? [called] : COMMANDS.values()) {
		const add = await load();
		add(program);
	}
	return program;
}

const LINGERING_MS = 5_000;

/**
 * Runs the command in `argv` (without node and script). Standard output carries only
 * the result. Sets the exit code: 0, 1 when it failed, 2 when it was wrongly used.
 */
export async function main(argv: string[]): Promise<void> {
	try {
		const program = await makeProgram(argv[0]);
		await program.parseAsync(argv, { from: "user" });
	} catch (error) {
		// A worker's line to the process above it would keep it alive.
		process.disconnect?.();
		if (error instanceof CommanderError) {
			// Commander has written its message; help and version are no mistakes.
			process.exitCode = error.exitCode === 0 ? 0 : EXIT_WRONG_USAGE;
			return;
		}
		process.exitCode = EXIT_FAILED;
		const known = toAppError(error);
		const text =
			error instanceof AppError || known.code === "service_unavailable"
				? `${known.message}${describeCause(error)}`
				: String((error as Error).stack ?? error);
		process.stderr.write(redact(`assay: ${text}\n`));
		// Whatever it left open must not keep a failed start from being seen as one.
		setTimeout(() => process.exit(), LINGERING_MS).unref();
	}
}

function describeCause(error: unknown): string {
	return error instanceof AppError ? "" : ` (${(error as Error).message})`;
}
