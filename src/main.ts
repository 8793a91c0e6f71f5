import { Command, CommanderError } from "commander";
import { addAgent } from "./cli/agent.ts";
import { addApiToken } from "./cli/api-token.ts";
import { addAudit } from "./cli/audit.ts";
import { addBackup } from "./cli/backup.ts";
import { addCall } from "./cli/call.ts";
import { addDemo } from "./cli/demo.ts";
import { addDevice } from "./cli/device.ts";
import { addDoctor } from "./cli/doctor.ts";
import { addMigrate } from "./cli/migrate.ts";
import { addOrg } from "./cli/org.ts";
import { addPerson } from "./cli/person.ts";
import { addRestore } from "./cli/restore.ts";
import { addSetupLink } from "./cli/setup-link.ts";
import { addSimulate } from "./cli/simulate.ts";
import { addStart } from "./cli/start.ts";
import { addUser } from "./cli/user.ts";
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

function makeProgram(): Command {
	const program = new Command("assay")
		.description("A self-hosted compliance service.")
		.version(VERSION)
		.addHelpText("after", ENVIRONMENT)
		.showHelpAfterError("(--help says what is possible)")
		.exitOverride();
	addStart(program);
	addDemo(program);
	addSetupLink(program);
	addMigrate(program);
	addOrg(program);
	addUser(program);
	addPerson(program);
	addApiToken(program);
	addDevice(program);
	addCall(program);
	addAudit(program);
	addBackup(program);
	addRestore(program);
	addDoctor(program);
	addSimulate(program);
	addAgent(program);
	return program;
}

/**
 * Runs the command in `argv` (without node and script). Standard output carries only
 * the result. Sets the exit code: 0, 1 when it failed, 2 when it was wrongly used.
 */
export async function main(argv: string[]): Promise<void> {
	try {
		await makeProgram().parseAsync(argv, { from: "user" });
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
	}
}

function describeCause(error: unknown): string {
	return error instanceof AppError ? "" : ` (${(error as Error).message})`;
}
