import type { Command } from "commander";

/**
 * Names the agent in the list of commands. `assay agent …` itself is taken by bin/assay.js
 * before the server is loaded; this answers whoever comes here, such as `assay help agent`.
 */
export function addAgent(program: Command): void {
	program
		.command("agent")
		.description(
			"The device agent: checks this device and reports to a service.",
		)
		.argument("[command...]", "what the agent is to do")
		.allowUnknownOption()
		.helpOption(false)
		.addHelpText("after", "\nSee assay agent --help.")
		.action(async (argv: string[]) => {
			const { runAgentCommand } = await import("../../agent/command.ts");
			await runAgentCommand(argv, "assay agent", ["agent"]);
		});
}
