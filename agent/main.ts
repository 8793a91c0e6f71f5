import { runAgentCommand } from "./command.ts";

// This file is the entry of the single executable and of the agent as one file. It does not use a
// top-level `await`, because the bundle may be CommonJS.
void runAgentCommand(process.argv.slice(2));
