import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "./run-tool.ts";

/** Bits of the type of a custom action, from Microsoft's documentation of Windows Installer. */
const RUN_INSTALLED_FILE = 18;
const RUN_COMMAND_IN_FOLDER = 34;
const IGNORE_EXIT_CODE = 64;
/** The action runs as SYSTEM when the files are in place, not when the installer plans. */
const DEFERRED_AS_SYSTEM = 1024 + 2048;
/** The log does not contain the command line. */
const HIDE_TARGET = 8192;

const NO_UPGRADE = 'REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE';

/**
 * The actions that run programs. The agent is stopped first, because a running program cannot be
 * replaced; `configure` starts it again, and a failed installation leaves that to the task.
 */
export const ACTIONS = [
	{
		name: "StopTask",
		type: RUN_COMMAND_IN_FOLDER + DEFERRED_AS_SYSTEM + IGNORE_EXIT_CODE,
		source: "INSTALLDIR",
		command: '"[System64Folder]schtasks.exe" /End /TN "Assay Agent"',
		condition: "1",
		sequence: 1510,
	},
	{
		name: "Uninstall",
		type: RUN_INSTALLED_FILE + DEFERRED_AS_SYSTEM + IGNORE_EXIT_CODE,
		source: "AgentExe",
		command: "uninstall",
		condition: NO_UPGRADE,
		sequence: 3200,
	},
	{
		name: "Configure",
		type: RUN_INSTALLED_FILE + DEFERRED_AS_SYSTEM + HIDE_TARGET,
		source: "AgentExe",
		command:
			'configure --server "[SERVER]" --key-file "[KEYFILE]" --owner-email "[OWNEREMAIL]" --ca-file "[CAFILE]"',
		condition: "NOT REMOVE",
		sequence: 6410,
	},
] as const;

/**
 * The properties that a user may pass. Windows Installer drops others when it changes its rights.
 */
const SECURE =
	"WIX_DOWNGRADE_DETECTED;WIX_UPGRADE_DETECTED;SERVER;KEYFILE;OWNEREMAIL;CAFILE";

/** Adds the folder of the program to the end of the system's PATH, and removes it again. */
const ENVIRONMENT = [
	"Environment\tName\tValue\tComponent_",
	"s72\tl255\tL255\ts72",
	"Environment\tEnvironment",
	"InPath\t=-*PATH\t[~];[INSTALLDIR]\tProgram",
	"",
].join("\r\n");

/** Makes the msi in `out` from `assay-agent.exe` in `built`, and returns its name. */
export function buildMsi({
	version,
	built,
	work,
	out,
}: {
	version: string;
	built: string;
	work: string;
	out: string;
}): string {
	const name = `assay-agent-${version}-x64.msi`;
	// wixl finds only files in its own folder.
	const wxs = join(import.meta.dirname, "windows/assay-agent.wxs");
	copyFileSync(wxs, join(work, "assay-agent.wxs"));
	for (const file of ["assay-agent.exe", "LICENSES.txt"]) {
		copyFileSync(join(built, file), join(work, file));
	}
	const values = {
		Version: version,
		Program: "assay-agent.exe",
		Licenses: "LICENSES.txt",
	};
	const defines = Object.entries(values).flatMap((each) => [
		"-D",
		each.join("="),
	]);
	const msi = join(out, name);
	runTool(
		"wixl",
		["-a", "x64", ...defines, "-o", msi, "assay-agent.wxs"],
		work,
	);
	writeFileSync(join(work, "Environment.idt"), ENVIRONMENT);
	runTool("msibuild", [msi, "-i", join(work, "Environment.idt")]);
	for (const query of queries()) runTool("msibuild", [msi, "-q", query]);
	return name;
}

function queries(): string[] {
	const standard = [
		["RemoveEnvironmentStrings", 3300],
		["WriteEnvironmentStrings", 5200],
	] as const;
	return [
		...ACTIONS.map(
			({ name, type, source, command }) =>
				`INSERT INTO \`CustomAction\` (\`Action\`, \`Type\`, \`Source\`, \`Target\`) VALUES ('${name}', ${type}, '${source}', '${command}')`,
		),
		...ACTIONS.map(
			({ name, condition, sequence }) =>
				`INSERT INTO \`InstallExecuteSequence\` (\`Action\`, \`Condition\`, \`Sequence\`) VALUES ('${name}', '${condition}', ${sequence})`,
		),
		...standard.map(
			([name, sequence]) =>
				`INSERT INTO \`InstallExecuteSequence\` (\`Action\`, \`Sequence\`) VALUES ('${name}', ${sequence})`,
		),
		`UPDATE \`Property\` SET \`Value\` = '${SECURE}' WHERE \`Property\` = 'SecureCustomProperties'`,
	];
}
