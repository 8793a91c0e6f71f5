import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { AgentError } from "./agent-error.ts";
import { type Common, folderOf, makeParts, print } from "./command-parts.ts";
import { defaultConfigFile } from "./config-file.ts";
import { readMarker } from "./folder.ts";
import { makeLog } from "./log.ts";
import { ownProgram } from "./own-program.ts";
import { useStoredProxies } from "./proxies.ts";
import { findSystemProxy } from "./system-proxy.ts";

export function addInstall(program: Command, how: string[]): void {
	program
		.command("install")
		.description(
			"Enroll this device and set up the service that runs the agent. The enrollment token or enrollment key is read from --enrollment-token-file, ASSAY_ENROLLMENT_TOKEN or standard input.",
		)
		.requiredOption("--server <url>", "address of the Assay service")
		.option(
			"--enrollment-token-file <file>",
			"file that contains the enrollment token or key",
		)
		.option(
			"--owner-email <address>",
			"e-mail address of the person who uses this device; that person or an administrator confirms it",
		)
		.option(
			"--ca-file <file>",
			"PEM file of a certificate authority to trust in addition to the usual ones",
		)
		.option(
			"--update-key <file>",
			"PEM file of the public key with which updates are signed; the program from the tar.gz then updates itself",
		)
		.option("--dir <folder>", "folder for the key, the state and the queue")
		.option("--no-service", "do not set up a service, which needs root")
		.option("--force", "enroll again even if this device is enrolled")
		.option("--json", "print the result as JSON")
		.action(async (options: InstallFlags) => {
			const { parseServerUrl } = await import("./server-url.ts");
			const serverUrl = parseServerUrl(options.server);
			const { host, signal } = makeParts(how);
			if (options.service && !host.isPrivileged) {
				throw new AgentError(
					"only root or an administrator can set up the service; run this command with those rights, or add --no-service and start the agent yourself",
				);
			}
			const folder = folderOf(options);
			const updateKey = await readUpdateKeyFile(options);
			const service = options.service
				? await prepareService(folder, how)
				: undefined;
			const { install } = await import("./install.ts");
			const installed = await install(
				{
					serverUrl,
					folder,
					tokenFile: options.enrollmentTokenFile,
					ownerEmail: options.ownerEmail,
					caFile: options.caFile,
					updateKey,
					service,
					force: options.force,
				},
				// The result contains everything that the user needs, so a log would only repeat it.
				{ host, log: makeLog("silent", () => {}), signal },
			);
			const typed = await typedCommand(program.name(), how, installed.service);
			const again = (command: string) =>
				`\`${typed} ${command}${options.dir ? ` --dir ${folder}` : ""}\``;
			print(options, installed, describeInstalled(installed, again));
		});
}

interface InstallFlags extends Common {
	server: string;
	enrollmentTokenFile?: string;
	ownerEmail?: string;
	caFile?: string;
	updateKey?: string;
	service: boolean;
	force?: boolean;
}

/** Reads the key of --update-key. Throws if it is none, or if this program cannot update itself. */
async function readUpdateKeyFile({
	updateKey: file,
	service,
}: InstallFlags): Promise<string | undefined> {
	if (file === undefined) return undefined;
	const { requireUpdatable } = await import("./updates/own-form.ts");
	const { readUpdateKey } = await import("./updates/manifest.ts");
	if (!service) {
		throw new AgentError("--update-key and --no-service exclude each other");
	}
	await requireUpdatable();
	const pem = await readFile(file, "utf8").catch((cause) => {
		throw new AgentError(`${file} cannot be read`, { cause });
	});
	readUpdateKey(pem);
	return pem;
}

async function typedCommand(
	name: string,
	how: string[],
	service: string | null,
): Promise<string> {
	const { commandToType } = await import("./service/command-to-type.ts");
	const { programFolder } = await import("./service/program.ts");
	return commandToType(
		name,
		ownProgram(how),
		service === null ? undefined : programFolder(),
	);
}

function describeInstalled(
	installed: import("./install.ts").Installed,
	again: (command: string) => string,
): string {
	const lines = [
		installed.device_id
			? `This device is enrolled with ${installed.server_url} as ${installed.device_id}.`
			: `This device is enrolled with ${installed.server_url}.`,
		...installed.warnings,
		installed.service
			? `The agent runs as a service (${installed.service}); ${again("status")} shows its state.`
			: `If a package installed the agent, its service reports within a minute. Otherwise start the agent with ${again("run")}, or have a scheduler start ${again("once")} every five minutes.`,
		`The command \`checks\` shows what it reports; ${again("uninstall")} removes it.`,
	];
	return lines.join("\n");
}

/**
 * Adds the command that the packages for Windows and macOS run after they have copied the program.
 */
export function addConfigure(program: Command, how: string[]): void {
	program
		.command("configure")
		.description(
			"Set up the service, and let it enroll this device as soon as it reaches the Assay service. Without options, the config file stays as it is.",
		)
		.option("--server <url>", "address of the Assay service")
		.option(
			"--key-file <file>",
			"file that contains the enrollment key; the agent deletes it after it has enrolled",
		)
		.option("--owner-email <address>", "person who uses this device")
		.option("--ca-file <file>", "PEM file of a certificate authority to trust")
		.option("--json", "print the result as JSON")
		.action(async (options: ConfigureFlags) => {
			const { configure } = await import("./configure.ts");
			const { host } = makeParts(how);
			if (!host.isPrivileged) {
				throw new AgentError(
					"only root or an administrator can set up the service; run this command with those rights",
				);
			}
			const folder = folderOf(options);
			const file = defaultConfigFile();
			const service = await prepareService(folder, how, ["--config", file]);
			const done = await configure(options, file, service);
			print(
				options,
				done,
				[
					`The agent runs as a service (${done.service}) and enrolls this device as ${done.config} says.`,
					...done.warnings,
				].join("\n"),
			);
		});
}

interface ConfigureFlags extends Common {
	server?: string;
	keyFile?: string;
	ownerEmail?: string;
	caFile?: string;
}

export function addUninstall(program: Command, how: string[]): void {
	program
		.command("uninstall")
		.description(
			"Remove the agent's service, key and folder, and tell the Assay service to revoke the key.",
		)
		.option("--dir <folder>", "the agent's folder")
		.option("--json", "print the result as JSON")
		.action(async (options: Common) => {
			const { signal, host } = makeParts(how);
			const folder = folderOf(options);
			await useStoredProxies(folder);
			const marker = await readMarker(folder);
			// If the command uses the default folder, it removes the service even if the folder is
			// already gone.
			const isDefault = host.isPrivileged && options.dir === undefined;
			const hasService = marker?.service || isDefault;
			const { uninstall } = await import("./uninstall.ts");
			const done = await uninstall(
				folder,
				{
					configFile: isDefault ? defaultConfigFile() : undefined,
					removeService: hasService
						? () => removeService(marker !== undefined)
						: undefined,
					findProxy: (service) => findSystemProxy(host, service),
				},
				signal,
			);
			print(
				options,
				done,
				[
					done.was_enrolled
						? `The agent was removed from this device${done.unenrolled ? ", and the service revoked its key" : ""}.`
						: `There was no enrolled agent in ${folder}. Leftover files were removed.`,
					...done.warnings,
				].join("\n"),
			);
		});
}

/** Removes the service. If one was expected, returns notes on the parts that were missing. */
async function removeService(isExpected: boolean): Promise<string[]> {
	const { serviceManager } = await import("./service.ts");
	const notes = await (await serviceManager())?.uninstall();
	return isExpected ? (notes ?? []) : [];
}

/**
 * Prepares the service before the token is used up, so that a machine without a service manager
 * fails early.
 */
async function prepareService(
	folder: string,
	how: string[],
	more: string[] = [],
) {
	const { checkProgram, serviceManager } = await import("./service.ts");
	const manager = await serviceManager();
	if (!manager) {
		throw new AgentError(
			"this machine has no service manager that the agent supports (systemd, launchd, rc.d or Windows Task Scheduler); add --no-service, and let your own service manager start the run command",
		);
	}
	const own = ownProgram(how);
	const { ASSAY_LOG_LEVEL } = process.env;
	const environment: Record<string, string> = ASSAY_LOG_LEVEL
		? { ASSAY_LOG_LEVEL }
		: {};
	const spec = {
		program: own.program,
		args: [...own.args, "run", "--dir", folder, ...more],
		folder,
		environment,
	};
	await checkProgram(spec);
	return { name: manager.name, install: () => manager.install(spec) };
}
