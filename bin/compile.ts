import { main } from "../src/main.ts";

/**
 * Loads the code of the service and of all commands, so that Node writes the compiled code to
 * NODE_COMPILE_CACHE. A package runs this after it has unpacked the new version, and before it
 * stops the old one. The new version then loads in half the processor time.
 */
await import("../src/serve.ts");
await import("../src/metrics/metrics.ts");
await import("../src/metrics/endpoint.ts");
await main(["--help"]);
