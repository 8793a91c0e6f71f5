import type { Command } from "commander";

/**
 * Adds the agent to the list of commands. bin/assay.js handles `assay agent …` itself, before the
 * server's code is loaded. This command handles the remaining cases, such as `assay help agent`.
 */
export function addAgent(program: Command): void {
	program
		.command("agent")
		.description(
			"The device agent: checks this device and reports to a service.",
		)
		.argument("[command...]", "command of the agent")
		.allowUnknownOption()
		.helpOption(false)
		.addHelpText(
			"after",
			"\nUse assay agent --help for the list of the agent's commands.",
		)
		.action(async (argv: string[]) => {
			const { runAgentCommand } = await import("../../agent/command.ts");
			await runAgentCommand(argv, "assay agent", ["agent"]);
		});
}
