import { runAgentCommand } from "./command.ts";

// The entry of the single executable and of the agent as one file. There is no await, because the
// bundle may be CommonJS.
void runAgentCommand(process.argv.slice(2));
