import { existsSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { VERSION } from "../src/version.ts";
import { AgentError, EXIT } from "./agent-error.ts";
import { type Common, folderOf, makeParts, print } from "./command-parts.ts";
import { defaultFolder } from "./folder.ts";
import { printable } from "./log.ts";
import { FETCH_UPDATE, ownProgram } from "./own-program.ts";
import { useStoredProxies } from "./proxies.ts";
import { addConfigure, addInstall, addUninstall } from "./setup-commands.ts";
import { isPrivileged, READ_AS_USER } from "./system-host.ts";

const ENVIRONMENT = `
Environment:
  ASSAY_ENROLLMENT_TOKEN  the enrollment token or key, for install
  ASSAY_LOG_LEVEL         debug, info, warn or error (info)
  HTTPS_PROXY, NO_PROXY   the proxy to reach the service through, and hosts to reach without it

Exit codes: 0, 1 (failed), 2 (wrong usage), 3 (this device is not enrolled: status, once).
`;

/**
 * Adds the agent's commands to a program, which is `assay-agent` or `assay agent`. `how` holds the
 * words that name the agent on the command line. The service needs them to start the agent again.
 */
export function addAgentCommands(program: Command, how: string[] = []): void {
	program
		.description("The device agent: checks this device and reports to Assay.")
		.version(VERSION)
		.addHelpText("after", ENVIRONMENT);
	addInstall(program, how);
	addConfigure(program, how);
	addRun(program, how);
	addOnce(program, how);
	addStatus(program);
	addChecks(program, how);
	addUninstall(program, how);
	addReadAsUser(program);
	addFetchUpdate(program, how);
}

/**
 * Runs the command in `argv` (without program and script) and sets the exit code. Standard output
 * carries only the result. With --json, a failure is printed as an object too.
 */
export async function runAgentCommand(
	argv: string[],
	name = "assay-agent",
	how: string[] = [],
): Promise<void> {
	const program = new Command(name)
		.showHelpAfterError("(use --help for the list of options)")
		.exitOverride();
	addAgentCommands(program, how);
	try {
		const { rejectTokenArgument } = await import("./enrollment-token.ts");
		rejectTokenArgument(argv);
		await program.parseAsync(argv, { from: "user" });
	} catch (error) {
		if (error instanceof CommanderError) {
			// Commander has already printed its message. Printing the help or the version is not an
			// error.
			process.exitCode = error.exitCode === 0 ? 0 : EXIT.wrongUsage;
			return;
		}
		const isKnown = error instanceof AgentError;
		process.exitCode = isKnown ? error.exitCode : EXIT.failed;
		if (argv.includes("--json")) {
			const message = isKnown ? printable(error.message) : "internal error";
			print({ json: true }, { error: message });
		}
		process.stderr.write(
			isKnown
				? `${name}: ${printable(error.message)}\n`
				: `${name}: ${String((error as Error).stack ?? error)}\n`,
		);
	}
}

function addRun(program: Command, how: string[]): void {
	program
		.command("run")
		.description(
			"Report on this device until stopped. The service runs this command.",
		)
		.option("--dir <folder>", "the agent's folder")
		.option(
			"--config <file>",
			"file that says how to enroll this device while it is not enrolled",
		)
		.option(
			"--log <file>",
			"file for the log, with one earlier file of 1 MB beside it; by default, standard error",
		)
		// An older program passes this option to the one that it tries.
		.addOption(new Option("--trial <file>").hideHelp())
		.action(async (options: RunFlags) => {
			const folder = folderOf(options);
			await useStoredProxies(folder);
			const parts = makeParts(how, options.log);
			try {
				await startRun({ ...options, folder }, how, parts);
			} catch (error) {
				// A service without a console keeps nothing that the agent writes to standard error.
				if (options.log === undefined) throw error;
				const isKnown = error instanceof AgentError;
				process.exitCode = isKnown ? error.exitCode : EXIT.failed;
				parts.log.error(
					isKnown ? error.message : String((error as Error).stack ?? error),
				);
			}
		});
}

interface RunFlags extends Common {
	config?: string;
	log?: string;
	trial?: string;
}

async function startRun(
	options: RunFlags & { folder: string },
	how: string[],
	parts: ReturnType<typeof makeParts>,
): Promise<void> {
	const { runChecksInChild } = await import("./checks/in-child.ts");
	const own = ownProgram(how);
	const { folder } = options;
	const runOptions = {
		folder,
		...parts,
		configFile: options.config,
		serviceName: options.config && (await serviceManagerName()),
		trialFile: options.trial,
		runChecks: (signal: AbortSignal) => runChecksInChild(own, folder, signal),
	};
	const { updatesItself } = await import("./updates/own-form.ts");
	if (options.trial !== undefined || !(await updatesItself(folder))) {
		const { run } = await import("./run.ts");
		return run(runOptions);
	}
	const { runWithUpdates } = await import("./updates/updates.ts");
	const { fetchInChild } = await import("./updates/fetch-newest.ts");
	await runWithUpdates({
		...runOptions,
		own,
		args: ["run", "--dir", folder],
		fetch: (wanted) => fetchInChild(own, folder, wanted),
	});
}

async function serviceManagerName(): Promise<string | undefined> {
	const { serviceManager } = await import("./service.ts");
	return (await serviceManager())?.name;
}

function addOnce(program: Command, how: string[]): void {
	program
		.command("once")
		.description(
			"Send a heartbeat, run the checks if they are due, send the results and all waiting reports, and exit.",
		)
		.option("--dir <folder>", "the agent's folder")
		.option(
			"--force",
			"run the checks even if they are not due yet; a running agent does it all",
		)
		.option("--json", "print the result as JSON")
		.action(async (options: Common & { force?: boolean }) => {
			const { once } = await import("./once.ts");
			const folder = folderOf(options);
			await useStoredProxies(folder);
			const parts = makeParts(how);
			const done = await once({ folder, force: options.force, ...parts });
			const { describeResults } = await import("./describe-results.ts");
			if (done.error !== null) {
				process.exitCode = EXIT.failed;
				process.stderr.write(`${program.name()}: ${printable(done.error)}\n`);
				if (options.json) print(options, done);
				return;
			}
			const results =
				done.results.length > 0
					? describeResults(done.results, parts.host.platform)
					: `The checks are due at ${done.next_checks_at}; --force runs them now.`;
			print(
				options,
				done,
				`${results}\n\nSent ${done.sent_reports} ${done.sent_reports === 1 ? "report" : "reports"} as ${done.device_id}.`,
			);
		});
}

function addStatus(program: Command): void {
	program
		.command("status")
		.description(
			"Show whether this device is enrolled, when it last reported, and how to fix what fails. Without root, show the last results of this machine's agent. Exits with 3 if there is none.",
		)
		.option("--dir <folder>", "the agent's folder")
		.option("--json", "print the status as JSON")
		.action(async (options: Common) => {
			const { describeLastResult, readLastResult } = await import(
				"./last-result.ts"
			);
			const folder = folderOf(options);
			const isOwn = options.dir !== undefined || isPrivileged();
			const last =
				(await readLastResult(folder)) ??
				(isOwn
					? undefined
					: await readLastResult(defaultFolder({ isPrivileged: true })));
			const { readStatus, describeStatus } = await import("./status.ts");
			const status = await readStatus(folder, async () => {
				const { serviceManager } = await import("./service.ts");
				return (await serviceManager())?.state() ?? "unknown";
			}).catch((error) => {
				// This user may not open the folder, but may read the last results.
				if (last && error instanceof AgentError) return undefined;
				throw error;
			});
			// The agent belongs to root, and this user may see only its last results.
			const isClosed =
				last !== undefined &&
				(status === undefined || (!status.enrolled && !isOwn));
			if (!status?.enrolled && !isClosed) process.exitCode = EXIT.notEnrolled;
			const text = isClosed
				? "Root or an administrator can see the whole status of this agent. Every user can see its last results."
				: status &&
					describeStatus(status) +
						(status.enrolled ? "" : hintAtSystemFolder(options));
			print(
				options,
				{ ...status, last_result: last ?? null },
				[text, last && describeLastResult(last)].filter(Boolean).join("\n\n"),
			);
		});
}

/**
 * Returns a hint for a user without rights. By default the command looks in this user's own folder,
 * but the agent may be installed for the whole machine.
 */
function hintAtSystemFolder(options: Common): string {
	if (options.dir !== undefined || isPrivileged()) return "";
	const folder = defaultFolder({ isPrivileged: true });
	return existsSync(folder)
		? `\nThe agent of this machine is in ${folder} and has no results yet.`
		: "";
}

function addChecks(program: Command, how: string[]): void {
	program
		.command("checks")
		.description(
			"Run the checks and show their results and the content of a heartbeat. Sends nothing and needs no enrollment.",
		)
		.option("--dir <folder>", "the agent's folder")
		.option("--json", "print the results as JSON")
		// A running agent passes this option. It already has its facts, and finding some of them again
		// would start a program.
		.addOption(new Option("--results-only").hideHelp())
		.action(async (options: Common & { resultsOnly?: boolean }) => {
			const { host, signal, log } = makeParts(how);
			const { runChecksHere } = await import("./session.ts");
			const { readStoredThresholds } = await import("./state.ts");
			const folder = folderOf(options);
			const thresholds = await readStoredThresholds(folder);
			const results = await runChecksHere(
				host,
				log,
				signal,
				thresholds,
				folder,
				options.resultsOnly === true,
			);
			if (signal.aborted) {
				process.exitCode = EXIT.failed;
				return;
			}
			if (options.resultsOnly) return print(options, { results });
			const { showFacts } = await import("./facts.ts");
			const { describeFacts, describeResults } = await import(
				"./describe-results.ts"
			);
			const heartbeat = {
				...(await showFacts(host, folder)),
				agent_version: VERSION,
			};
			const note = host.isPrivileged
				? ""
				: "\n\nSome checks need root or an administrator. The service runs with those rights.";
			print(
				options,
				{ heartbeat, results },
				`${describeResults(results, host.platform)}\n\n${describeFacts(heartbeat)}${note}`,
			);
		});
}

/**
 * Adds the hidden command that reads a file with a user's rights. Only an agent that runs as root
 * starts it.
 */
function addReadAsUser(program: Command): void {
	program
		.command(READ_AS_USER, { hidden: true })
		.description(
			"Read a regular file with the rights of a user, and print it as JSON.",
		)
		.argument("<uid>")
		.argument("<gid>")
		.argument("<path>")
		.action(async (uid: string, gid: string, path: string) => {
			// All modules are loaded first, because the user may have no right to read this program's
			// files.
			const { becomeUser, readRegularFile } = await import("./read-as-user.ts");
			becomeUser({ uid: Number(uid), gid: Number(gid) });
			process.stdout.write(`${JSON.stringify(await readRegularFile(path))}\n`);
		});
}

/** Adds the hidden command that fetches a newer program for an agent that updates itself. */
function addFetchUpdate(program: Command, how: string[]): void {
	program
		.command(FETCH_UPDATE, { hidden: true })
		.description("Fetch a newer version of this program, and verify it.")
		.argument("<version>")
		.argument("<file>")
		.option("--dir <folder>", "the agent's folder")
		.option("--json", "print an error as JSON")
		.action(async (newest: string, to: string, options: Common) => {
			const { host, signal } = makeParts(how);
			const { fetchNewest } = await import("./updates/fetch-newest.ts");
			const folder = folderOf(options);
			await useStoredProxies(folder);
			const version = await fetchNewest(folder, { newest, to, signal }, host);
			process.stdout.write(JSON.stringify({ version }));
		});
}
